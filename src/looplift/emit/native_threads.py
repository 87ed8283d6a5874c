"""Loops of a written kernel whose iterations do not meet, as functions of a part of their range, for several threads.

It goes by the text, in which each name is declared once, and nothing is done to memory without the name of an array. A
loop is shared where each of its lines is of a known form and all that it writes is its own, or an element of an array
that no other iteration touches: each mention of the array has the loop's index at the same place (Allen and Kennedy,
*Optimizing Compilers for Modern Architectures*, 2001, section 2: a loop without a dependence that it carries).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from looplift.base.data import dataclass
from looplift.ir.kernel import OUTCOMES

_LOOP = re.compile(r" *for \(int64_t (\w+) = ([^;]+); \1 < ([^;]+);(?: \+\+\1)?\) \{")
_NESTED = re.compile(r" *(?:for|while) \(.*\{| *(?:const )?auto \w+ = \[.*\{")
_NAME = re.compile(r"(?<![\w.:])[A-Za-z_]\w*")
_LIBRARY = re.compile(r"math::\w+|__builtin_\w+|INT64_C\(|0[xX][0-9a-fA-F.]+p?[-+]?\w*")
_DECLARED = re.compile(r"(?:const )?(?:[a-z]\w*|(?:View|Array|Held)<[^;={]*>)&? (\w+)(?: = |;|\{)")
_COUNTED = re.compile(r"for \(int64_t (\w+) = [^;]*?(?:, (\w+) = [^;]*)?;")
_LAMBDA = re.compile(r"\[[=&]\]\(([^)]*)\)")
_PLAIN = r"(?:\+\+|--)?\w+;|\w+(?:\.data\[.*\]|\.size\[\d\])? (?:[-+*/|&^]|<<|>>)?= .*;"
_FORM = re.compile(
    r"\{|\}|\};|\} else \{|(?:for|while|if|\} else if) \(.*\{|if \(.*\) (?:return \w+|break|continue);|return .*;"
    r"|(?:const )?(?:bool|float|double|half|bfloat16|auto|u?int\d+_t|(?:View|Array|Held)<[^;={]*>) \w+"
    r"(?: = .*|;|\{.*\};)"
    rf"|(?:(?:if|while) \(.*\) )?(?:{_PLAIN})|\w+\(.*\) (?:[-+*/|&^]|<<|>>)?= .*;|copy\(.*\);|\w+\.(?:fill|push)\(.*\);"
)
"""The forms that a line of a loop may have. What is not among them is not understood, and the loop is not shared."""
_ASSIGNED = re.compile(
    r"^(?:(?:if|while) \(.*\) )?(?:(?:\+\+|--)(\w+);|(\w+)(?:\.data\[.*\]|\.size\[\d\])? (?:[-+*/|&^]|<<|>>)?= )"
    r"|&(\w+)\b|^(?:if \(!)?(\w+)\.(?:fill|allocate|adopt|lengthen|push)\(",
    re.MULTILINE,
)
_STORED = re.compile(r"^(\w+)\(.*\) (?:[-+*/|&^]|<<|>>)?= ", re.MULTILINE)
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
    the caller's and the kernel's own that may be written to (with their types), numbers, and numbers that are elements
    of the caller's arrays."""

    read: set[str]
    ragged: set[str]
    given: dict[str, str]
    made: dict[str, str]
    numbers: set[str]
    live: set[str]


def shared_loops(lines: list[str], head: list[str], functions: frozenset[str]) -> list[str]:
    """The lines of a kernel, with its independent loops for several threads.

    ``head``: what declares its parameters and views of them; ``functions``: what may be called besides the C library.
    """
    found: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if _NESTED.fullmatch(lines[at]):
            end = _end(lines, at)
            loop = lines[at:end]
            if not (found and found[-1].lstrip().startswith("#")):
                loop = _shared(loop, [*head, *found], functions) or loop
            found += loop
        else:
            found.append(lines[at])
        at = end
    return found


def around_a_loop(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines before the first loop among them, it, and those behind it."""
    at = next((k for k, line in enumerate(lines) if _NESTED.fullmatch(line)), len(lines))
    end = _end(lines, at) if at < len(lines) else at
    return lines[:at], lines[at:end], lines[end:]


def _end(lines: list[str], at: int) -> int:
    """The line after the block that a line opens."""
    indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
    return next(k + 1 for k in range(at + 1, len(lines)) if lines[k] in (indent + "}", indent + "};"))


def _shared(loop: list[str], before: list[str], functions: frozenset[str]) -> list[str] | None:
    """A loop as a function of a part of its range, and its call; None where its iterations may meet."""
    placed, listed = _placed(loop, before)
    found = independent(placed, before, functions)
    if found is None:
        return None
    return _lengthened(_as_function(found), listed, found.low, found.high)


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


def independent(loop: list[str], before: list[str], functions: frozenset[str]) -> Independent | None:
    """What there is to know of a loop, the text of which begins with its head; None where its iterations may meet.

    ``before``: the lines that its names are declared in; ``functions``: what may be called besides the C library.
    """
    match = _LOOP.fullmatch(loop[0])
    if match is None:
        return None
    index, low, high = match.groups()
    lines = [line.strip() for line in loop if not line.lstrip().startswith(("//", "#"))]
    text = _LIBRARY.sub("", "\n".join(lines))
    earlier = "\n".join(line for line in before if not line.lstrip().startswith("//"))
    outer = outer_names(earlier)
    names = set(_NAME.findall(text))
    if _SERIAL.search(text) or not all(map(_FORM.fullmatch, lines)) or _is_left(lines):
        return None
    inside = declared(lines)
    flags = _flags(lines, outer, inside)
    assigned = {name for names in _ASSIGNED.findall(text) for name in names if name}
    arrays = [name for name in (*outer.given, *outer.made) if name in names]
    known = inside | outer.read | outer.numbers | outer.live | {*outer.given, *outer.made}
    if assigned - inside - flags or not names <= known | _WORDS | functions:
        return None
    written = [name for name in arrays if _is_written(name, text)]
    if not all(_is_apart(name, index, text, outer) for name in written):
        return None
    if any(_has_other_name(name, earlier) for name in arrays):
        return None
    given = [name for name in written if name in outer.given]
    if given and names & outer.live:
        return None
    others = sorted(((outer.read - outer.ragged) | {*outer.given}) & names - {*given})
    dense = [name for name in sorted(known & names) if f"if (!is_dense({name})) return strided;" in earlier]
    dense += [name for name in arrays if name in outer.made]
    return Independent(loop, index, low, high, arrays, given, others, flags, dense, outer)


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


# ---------------------------------------------------------------- lists


def _placed(loop: list[str], before: list[str]) -> tuple[list[str], list[str]]:
    """A loop in which each list that is empty before, and to which each iteration appends one number, has that at the
    place of the iteration; and the names of these lists."""
    match = _LOOP.fullmatch(loop[0])
    if match is None:
        return loop, []
    index, low, _ = match.groups()
    is_cut = "strip_end(" in "".join(loop[:4])
    start = " " * (len(loop[0]) - len(loop[0].lstrip()) + (4 if is_cut else 2))
    place = index if low == "0" else f"{index} - {low}"
    earlier = "\n".join(line for line in before if not line.lstrip().startswith("//"))
    found: list[str] = []
    lines = []
    for line in loop:
        appended = re.fullmatch(start + r"if \(!(\w+)\.push\((\w+(?:\([\w, ]*\))?)\)\) return out_of_memory;", line)
        if appended and re.fullmatch(r"\w+", low) and _is_new(appended[1], earlier, loop):
            found.append(appended[1])
            line = f"{start}{appended[1]}({place}) = {appended[2]};"
        lines.append(line)
    return (lines, found) if "continue;" not in "".join(loop) else (loop, [])


def _is_new(name: str, earlier: str, loop: list[str]) -> bool:
    """Whether nothing but its declaration mentions a list before a loop, and one line alone does in it."""
    mentions = re.findall(rf"\b{name}\b", "\n".join(line for line in loop if not line.lstrip().startswith("//")))
    declared = re.search(rf"^ *Array<\w+, 1> {name};", earlier, re.MULTILINE)
    return bool(declared) and len(mentions) == 1 and len(re.findall(rf"\b{name}\b", earlier)) == 1


def _lengthened(text: list[str], listed: list[str], low: str, high: str) -> list[str]:
    """With lists that are made as long as the loop puts numbers into them."""
    if not listed:
        return text
    indent = " " * (len(text[0]) - len(text[0].lstrip()))
    length = high if low == "0" else f"({high}) - {low}"
    grown = " || ".join(f"!{name}.lengthen({length})" for name in listed)
    return [f"{indent}if ({grown}) return out_of_memory;", *text]


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
    scalar = r"(?:bool|float|double|half|bfloat16|u?int\d+_t)"
    numbers = set(re.findall(rf"\b{scalar} (\w+)(?=[,)]| = |;)", text))
    return Outer(read, ragged, given, made, numbers, set(re.findall(rf"\bconst {scalar}& (\w+) = ", text)))


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


def _flags(lines: list[str], outer: Outer, inside: set[str]) -> set[str]:
    """Numbers from before the loop that its lines do nothing to but set them to ``true``."""
    candidates = {line.removesuffix(" = true;") for line in lines if re.fullmatch(r"\w+ = true;", line)}
    rest = "\n".join(line for line in lines if not re.fullmatch(r"\w+ = true;", line))
    return (candidates & outer.numbers) - inside - set(_NAME.findall(rest))


# ---------------------------------------------------------------- arrays


def _is_written(name: str, text: str) -> bool:
    """Whether something is stored into an array, or into a row that is taken of it."""
    return name in _STORED.findall(text) or any(not rest.startswith((".size[", "(")) for rest in _after(name, text))


def _is_apart(name: str, index: str, text: str, outer: Outer) -> bool:
    """Whether each mention of an array has the index of the loop at one and the same place."""
    whole = re.sub(rf"\brow\({name}, {index}\)", f"{name}({index})", text)
    places: set[tuple[int, str]] | None = None
    for rest in _after(name, whole):
        if rest.startswith(".size["):
            continue
        if not rest.startswith("("):
            return False
        here = {(k, argument) for k, argument in enumerate(_arguments(rest)) if _is_shifted(argument, index, outer)}
        places = here if places is None else places & here
    return bool(places)


def _is_shifted(argument: str, index: str, outer: Outer) -> bool:
    """Whether a subscript is the index, or that and what is the same in all iterations."""
    match = re.fullmatch(rf"{index}(?: [-+] (\w+))?", argument)
    return match is not None and (match[1] is None or match[1].isdigit() or match[1] in outer.numbers)


def _after(name: str, text: str) -> list[str]:
    return [text[match.end() :] for match in re.finditer(rf"\b{name}\b", text)]


def _arguments(text: str) -> list[str]:
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


def _has_other_name(name: str, before: str) -> bool:
    """Whether something that was declared before may be a part of an array, or the array itself."""
    plain = re.compile(
        rf"\b{name}(?:\(|\.size\[|\.(?:fill|adopt|allocate|push)\()|is_dense\({name}\)|holds\({name}, "
        rf"|\b{name}_before\({name}\)|Array<\w+, \d> {name};|View<\w+, \d> {name}(?:\{{| = view_of)"
        rf"|copy\({name}, |\b{name}_\w+|shares\((?:{name}, \w+|\w+, {name})\)"
    )
    text = before.replace('extern "C"', "")
    lines = [line for line in text.splitlines() if re.search(rf"\b{name}\b", line)]
    return any(re.search(rf"& \w+ = |&\w+\(|\b{name}\b", plain.sub("", line)) for line in lines)


# ---------------------------------------------------------------- the text


def _captured(arrays: list[str], flags: set[str], outer: Outer) -> str:
    """What the function keeps besides copies of numbers and views: arrays without a share in their memory."""
    views = [f"{name} = View<{outer.made[name]}>({name})" for name in arrays if name in outer.made]
    return ", ".join(["=", *(f"&{name}" for name in sorted(flags)), *views])


def _as_function(found: Independent) -> list[str]:
    loop, index, bounds, given = found.lines, found.index, (found.low, found.high), found.given
    captured = _captured(found.arrays, found.flags, found.outer)
    indent = " " * (len(loop[0]) - len(loop[0].lstrip()))
    taken = "\n".join([*loop, *bounds, *given, *found.others])
    part, first, last, outcome = fresh(("part", "first", "last", "outcome"), taken)
    head = re.sub(rf"{index} = [^;]+; {index} < [^;]+;", f"{index} = {first}; {index} < {last};", loop[0])
    rest = [re.sub(rf"strip_end\({index}, .*\);", f"strip_end({index}, {last});", line) for line in loop[1:]]
    for flag in found.flags:
        rest = [re.sub(rf"\b{flag} = true;", f"__atomic_store_n(&{flag}, true, __ATOMIC_RELAXED);", r) for r in rest]
    look = [f"{indent}  if (doubt.any()) return doubtful;"] if any("doubt." in line for line in loop) else []
    call = f"shared(watch, {', '.join(bounds)}, {meeting_none(found) or 'true'}, {part})"
    return [
        *(line[2:] for line in look),
        f"{indent}const auto {part} = [{captured}](int64_t {first}, int64_t {last}, Watch& watch) -> int {{",
        *([f"{indent}  int64_t patience = watch.budget;"] if any("patience" in line for line in loop) else []),
        *([f"{indent}  Doubt doubt;"] if look else []),
        *(f"{indent}  if (!is_dense({name})) return strided;" for name in found.dense),
        *(f"  {line}" for line in [head, *rest]),
        *look,
        f"{indent}  return done;",
        f"{indent}}};",
        f"{indent}if (const int {outcome} = {call}) return {outcome};",
    ]


def meeting_none(found: Independent) -> str:
    """The C++ condition under which what a loop writes to shares memory with nothing; empty where it writes to
    nothing of the caller's."""
    given, others = found.given, found.others
    return " && ".join(f"is_alone({', '.join([name, *given[k + 1 :], *others])})" for k, name in enumerate(given))


def fresh(names: tuple[str, ...], text: str) -> list[str]:
    """Names that a text does not have."""
    taken = set(re.findall(r"\w+", text))
    return [next(n for n in (name, *(f"{name}_{k}" for k in range(2, 99))) if n not in taken) for name in names]
