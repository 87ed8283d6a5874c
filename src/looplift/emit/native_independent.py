"""Loops of a written kernel whose iterations do not meet.

It goes by the text, in which each name is declared once, and nothing is done to memory without the name of an array. A
loop is independent where each of its lines is of a known form and all that it writes is its own, or an element of an
array that no other iteration touches: each mention of the array has the loop's index at the same place (Allen and
Kennedy, *Optimizing Compilers for Modern Architectures*, 2001, section 2: a loop without a dependence that it carries).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from looplift.base.data import dataclass
from looplift.ir.kernel import OUTCOMES

_REPEATED = re.compile(r" *(?:for|while) \(.*\) \{")
LOOP = re.compile(r" *for \(int64_t (\w+) = ([^;]+); \1 < ([^;]+);(?: \+\+\1)?\) \{")
NAME = re.compile(r"(?<![\w.:])[A-Za-z_]\w*")
_LIBRARY = re.compile(r"(?:math|simd)::\w+|__builtin_\w+|INT64_C\(|0[xX][0-9a-fA-F.]+p?[-+]?\w*")
_DECLARED = re.compile(r"(?:const )?(?:[a-z]\w*|(?:View|Array|Held)<[^;={]*>)&? (\w+)(?: = |;|\{)")
_COUNTED = re.compile(r"for \(int64_t (\w+) = [^;]*?(?:, (\w+) = [^;]*)?;")
_LAMBDA = re.compile(r"\[[=&]\]\(([^)]*)\)")
_PLAIN = r"(?:\+\+|--)?\w+;|\w+(?:\.data\[.*\]|\.size\[\d\])? (?:[-+*/|&^]|<<|>>)?= .*;"
FORM = re.compile(
    r"\{|\}|\};|\} else \{|(?:for|while|if|\} else if) \(.*\{|if \(.*\) (?:return \w+|break|continue);|return .*;"
    r"|(?:const )?(?:bool|float|double|half|bfloat16|auto|u?int\d+_t|(?:View|Array|Held)<[^;={]*>) \w+"
    r"(?: = .*|;|\{.*\};)"
    rf"|(?:(?:if|while) \(.*\) )?(?:{_PLAIN})|\w+\(.*\) (?:[-+*/|&^]|<<|>>)?= .*;|copy\(.*\);|\w+\.(?:fill|push)\(.*\);"
)
"""The forms that a line of a loop may have. What is not among them is not understood, and the loop is not shared."""
ASSIGNED = re.compile(
    r"^(?:(?:if|while) \(.*\) )?(?:(?:\+\+|--)(\w+);|(\w+)(?:\.data\[.*\]|\.size\[\d\])? (?:[-+*/|&^]|<<|>>)?= )"
    r"|&(\w+)\b|^(?:if \(!)?(\w+)\.(?:fill|allocate|adopt|lengthen|push)\(",
    re.MULTILINE,
)
STORED = re.compile(r"^(\w+)\(.*\) (?:[-+*/|&^]|<<|>>)?= ", re.MULTILINE)
_SERIAL = re.compile(
    r"\b(?:host|maker|made|tape|goto|static)\b|_out\b|&\w+\(|(?:\+\+|--)\w+\(|doubt\.found|Watch|Doubt"
)
"""What is for one thread alone: Python, results, and elements whose address goes elsewhere."""
_WORDS = frozenset(
    "auto bool break const continue double else false float for half bfloat16 if int int8_t int16_t int32_t int64_t"
    " uint8_t uint16_t uint32_t uint64_t return true while watch patience doubt View Array Held INT64_MIN"
    " INT64_MAX".split()
) | {*OUTCOMES}


class Outer(NamedTuple):
    """The names that are declared before a loop: arrays that nothing writes to, those of them that are lists of rows,
    the caller's and the kernel's own that may be written to (with their types), names for one of several arrays,
    numbers, and numbers that are elements of the caller's arrays."""

    read: set[str]
    ragged: set[str]
    given: dict[str, str]
    made: dict[str, str]
    renamed: dict[str, str]
    numbers: set[str]
    live: set[str]


@dataclass(frozen=True)
class Independent:
    """A loop whose iterations do not meet: its lines, index and bounds, the arrays that it mentions, those of the
    caller that it writes to (``given``) and other memory that it reads, the flags that it sets, the arrays whose
    elements must be next to each other, and what is declared before."""

    lines: list[str]
    index: str
    low: str
    high: str
    arrays: list[str]
    given: list[str]
    others: list[str]
    flags: set[str]
    dense: list[str]
    outer: Outer


class Context(NamedTuple):
    """Where a loop is: the lines in front of the nest that it is in, and behind it; what may be called besides the C
    library; and of each loop around it, from the outermost, the lines in front of it and behind it."""

    before: list[str]
    functions: frozenset[str]
    after: tuple[str, ...] = ()
    around: tuple[tuple[list[str], list[str]], ...] = ()

    def inside(self, earlier: list[str], later: list[str]) -> Context:
        return self._replace(around=(*self.around, (earlier, later)))

    def earlier(self) -> list[str]:
        """What ran before the loop, once or more often."""
        return [*self.before, *(line for pair in self.around for lines in pair for line in lines)]

    def since(self, name: str) -> list[str]:
        """What ran since an array was made: of a loop that makes one in each iteration, nothing of the iterations
        before."""
        own = re.compile(rf" *Array<\w+, \d> {name};")
        made = [k for k, (earlier, _) in enumerate(self.around) if any(map(own.fullmatch, earlier))]
        found = [*self.before]
        for level, (earlier, later) in enumerate(self.around):
            found += earlier if made and level <= made[-1] else [*earlier, *later]
        return found


def independent(loop: list[str], context: Context) -> Independent | None:
    """What there is to know of a loop, the text of which begins with its head; None where its iterations may meet."""
    match = LOOP.fullmatch(loop[0])
    if match is None:
        return None
    index, low, high = match.groups()
    lines = [line.strip() for line in loop if not line.lstrip().startswith(("//", "#"))]
    text = _LIBRARY.sub("", "\n".join(lines))
    earlier = code_of(context.earlier())
    outer = outer_names(earlier)
    names = set(NAME.findall(text))
    if _SERIAL.search(text) or not all(map(FORM.fullmatch, lines)) or _is_left(lines):
        return None
    inside = declared(lines)
    flags = _flags(lines, outer, inside)
    arrays = [name for name in (*outer.given, *outer.made) if name in names]
    renamed = sorted(outer.renamed.keys() & names)
    known = inside | outer.read | outer.numbers | outer.live | {*arrays, *renamed}
    if assigned(lines) - inside - flags or not names <= known | _WORDS | context.functions:
        return None
    written = [name for name in arrays if _is_written(name, text)]
    if not all(_is_apart(name, index, text, outer) for name in written):
        return None
    if any(has_other_name(name, code_of(context.since(name))) for name in arrays):
        return None
    if any(_is_written(name, text) for name in renamed):
        return None
    given = [name for name in written if name in outer.given]
    if given and names & outer.live:
        return None
    others = sorted(((outer.read - outer.ragged) | {*outer.given, *renamed}) & names - {*given})
    dense = [name for name in sorted(known & names) if f"if (!is_dense({name})) return strided;" in earlier]
    dense += [name for name in arrays if name in outer.made]
    return Independent(loop, index, low, high, [*arrays, *renamed], given, others, flags, dense, outer)


def code_of(lines: list[str]) -> str:
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


def _is_left(lines: list[str]) -> bool:
    """Whether an iteration may be the last one, by a ``break``."""
    blocks: list[bool] = []
    for line in lines:
        if line.startswith("}"):
            blocks.pop()
        if line.endswith("{"):
            blocks.append(line.startswith(("for (", "while (")))
        if line.endswith("break;") and sum(blocks) < 2 + ("strip_end(" in "".join(lines[:3])):
            return True
    return False


def meeting_none(found: Independent) -> str:
    """The C++ condition under which what a loop writes to shares memory with nothing; empty where it writes to
    nothing of the caller's."""
    given, others = found.given, found.others
    return " && ".join(f"is_alone({', '.join([name, *given[k + 1 :], *others])})" for k, name in enumerate(given))


def fresh(names: tuple[str, ...], text: str) -> list[str]:
    """Names that a text does not have."""
    taken = set(re.findall(r"\w+", text))
    return [next(n for n in (name, *(f"{name}_{k}" for k in range(2, 99))) if n not in taken) for name in names]


def blocks(lines: list[str]) -> Iterator[tuple[int, int, bool]]:
    """Where each line, or each loop as a whole, begins and ends; and whether it is a loop."""
    at = 0
    while at < len(lines):
        is_loop = _REPEATED.fullmatch(lines[at]) is not None
        end = end_of_block(lines, at) if is_loop else at + 1
        yield at, end, is_loop
        at = end


def is_plain(lines: list[str], at: int) -> bool:
    """Whether nothing is said to the compiler about the loop that begins in this line."""
    return not (at and lines[at - 1].lstrip().startswith("#"))


def end_of_block(lines: list[str], at: int) -> int:
    """The line after the block that a line opens."""
    indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
    return next(k + 1 for k in range(at + 1, len(lines)) if lines[k] in (indent + "}", indent + "};"))


# ---------------------------------------------------------------- names


def outer_names(text: str) -> Outer:
    """What the head of a kernel and the lines before a loop declare, as far as it is of a known form."""
    view = re.compile(r"^ *const View<(const )?([\w]+, \d)> (\w+)(?:\{| = view_of<)", re.MULTILINE)
    read = {name for const, _, name in view.findall(text) if const}
    ragged = set(re.findall(r"^ *const Rows<const \w+> (\w+)\{", text, re.MULTILINE))
    read |= ragged
    part = re.compile(r"^ *const auto (\w+) = (?:cut<\d>|row|reversed<\d>|transposed)\((\w+)", re.MULTILINE)
    for name, whole in part.findall(text):
        read |= {name} if whole in read else set()
    given = {name: kind for const, kind, name in view.findall(text) if not const}
    made = {name: kind for kind, name in re.findall(r"^ *Array<(\w+, \d)> (\w+);", text, re.MULTILINE)}
    renamed = {name: kind for kind, name in re.findall(r"^ *Array<(\w+, \d)> (\w+) = ", text, re.MULTILINE)}
    scalar = r"(?:bool|float|double|half|bfloat16|u?int\d+_t)"
    numbers = set(re.findall(rf"\b{scalar} (\w+)(?=[,)]| = |;)", text))
    return Outer(read, ragged, given, made, renamed, numbers, set(re.findall(rf"\bconst {scalar}& (\w+) = ", text)))


def declared(lines: list[str]) -> set[str]:
    """The names that lines declare."""
    found: set[str] = set()
    for line in lines:
        if (match := _DECLARED.match(line)) and not line.startswith(("return ", "else ")):
            found |= {match[1], *re.findall(r", (\w+) = ", line)}
        for names in _COUNTED.findall(line):
            found |= {name for name in names if name}
        for parameters in _LAMBDA.findall(line):
            found |= {parameter.split()[-1] for parameter in parameters.split(", ") if parameter}
    return found


def assigned(lines: list[str]) -> set[str]:
    """The names of which lines change what they hold."""
    return {name for names in ASSIGNED.findall("\n".join(lines)) for name in names if name}


def _flags(lines: list[str], outer: Outer, inside: set[str]) -> set[str]:
    """Numbers from before the loop that its lines do nothing to but set them to ``true``."""
    candidates = {line.removesuffix(" = true;") for line in lines if re.fullmatch(r"\w+ = true;", line)}
    rest = "\n".join(line for line in lines if not re.fullmatch(r"\w+ = true;", line))
    return (candidates & outer.numbers) - inside - set(NAME.findall(rest))


# ---------------------------------------------------------------- arrays


def _is_written(name: str, text: str) -> bool:
    """Whether something is stored into an array, or into a row that is taken of it."""
    return name in STORED.findall(text) or any(not rest.startswith((".size[", "(")) for rest in after(name, text))


def _is_apart(name: str, index: str, text: str, outer: Outer) -> bool:
    """Whether each mention of an array has the index of the loop at one and the same place."""
    whole = re.sub(rf"\brow\({name}, {index}\)", f"{name}({index})", text)
    places: set[tuple[int, str]] | None = None
    for rest in after(name, whole):
        if rest.startswith(".size["):
            continue
        if not rest.startswith("("):
            return False
        here = {(k, argument) for k, argument in enumerate(arguments_of(rest)) if _is_shifted(argument, index, outer)}
        places = here if places is None else places & here
    return bool(places)


def _is_shifted(argument: str, index: str, outer: Outer) -> bool:
    """Whether a subscript is the index, or that and what is the same in all iterations."""
    match = re.fullmatch(rf"{index}(?: [-+] (\w+))?", argument)
    return match is not None and (match[1] is None or match[1].isdigit() or match[1] in outer.numbers)


def after(name: str, text: str) -> list[str]:
    return [text[match.end() :] for match in re.finditer(rf"\b{name}\b", text)]


def arguments_of(text: str) -> list[str]:
    """What stands between the parentheses that a text begins with, at their commas."""
    depth, found = 0, [""]
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return found
        if letter == "," and depth == 1:
            found.append("")
        elif depth > 1 or letter != "(":
            found[-1] = (found[-1] + letter).lstrip()
    return found


def has_other_name(name: str, before: str) -> bool:
    """Whether something that was declared before may be a part of an array, or the array itself."""
    plain = re.compile(
        rf"\b{name}(?:\(|\.size\[|\.(?:fill|adopt|allocate|push)\()|is_dense\({name}\)|holds\({name}, "
        rf"|\b{name}_before\({name}\)|Array<\w+, \d> {name};|View<\w+, \d> {name}(?:\{{| = view_of)"
        rf"|copy\({name}, |\b{name}_\w+|shares\((?:{name}, \w+|\w+, {name})\)"
    )
    text = before.replace('extern "C"', "")
    lines = [line for line in text.splitlines() if re.search(rf"\b{name}\b", line)]
    return any(re.search(rf"& \w+ = |&\w+\(|\b{name}\b", plain.sub("", line)) for line in lines)
