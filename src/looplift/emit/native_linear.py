"""Checks of places that go up or down evenly, made once for a whole loop.

for (int64_t j = 0; j < m; ++j) {                        if (0 < m && outside(row + m - 1, x.size[0])) return ..;
  if (__builtin_add_overflow(row, j, &at)) return ..;    for (int64_t j = 0; j < m; ++j) {
  if (outside(at, x.size[0])) return ..;                   const int64_t at = row + j;
  x(at) = 0;                                               x(at) = 0;

What is linear in a loop's index is between what it is in the first iteration and in the last one. A kernel that fails
has done nothing in the end, so that it may fail before the loop as well; but only if the loop runs, and to its end.
It goes by the text, like ``native_independent``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from looplift.base.data import dataclass, field
from looplift.emit.native_independent import ASSIGNED, LOOP, NAME, Context, blocks, declared, fresh, is_plain

_OVERFLOW = re.compile(
    r"if \(__builtin_(add|sub|mul)_overflow\(([^,()]+), ([^,()]+), &(\w+)\)\) return integer_overflow;"
)
_KNOWN = re.compile(r"const int64_t (\w+) = ([^;]+);")
_TERM = r"\w+(?: \* \w+)?"
_SUM = re.compile(rf"{_TERM}(?: [-+] {_TERM})*")
_OUTSIDE = re.compile(r"outside\(([^,()]+), (\w+\.size\[\d\])\)")
_CHECK = re.compile(r"if \((.*)\) return index_out_of_range;")
_SIGNS = {"add": "+", "sub": "-", "mul": "*"}


def checked_once(lines: list[str], context: Context) -> list[str]:
    """The lines of a block, the loops in which check before what is linear in their index."""
    found: list[str] = []
    for at, end, is_loop in blocks(lines):
        if not is_loop:
            found.append(lines[at])
            continue
        around = context.inside(lines[:at], lines[end:])
        loop = [lines[at], *checked_once(lines[at + 1 : end], around)]
        found += _Linear.of(loop, around) if is_plain(lines, at) else loop
    return found


@dataclass
class _Linear:
    """A loop, what is the same in all of its iterations, and what linear names are in the first and in the last."""

    loop: list[str]
    runs: str
    changing: set[str]
    taken: str
    ends: dict[str, tuple[str, str]]
    before: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, loop: list[str], context: Context) -> list[str]:
        match = LOOP.fullmatch(loop[0])
        text = "\n".join(line.strip() for line in loop)
        if match is None or re.search(r"\b(?:break|continue|goto)\b", text):
            return loop
        index, low, high = match.groups()
        if not all(_SUM.fullmatch(one) for one in (low, high)):
            return loop
        changing = declared([line.strip() for line in loop]) | {index}
        changing |= {name for names in ASSIGNED.findall(text) for name in names if name}
        last = str(int(high) - 1) if high.isdigit() else f"{high} - 1"
        taken = "\n".join([*context.earlier(), text])
        made = cls(loop, f"{low} < {high}", changing, taken, {index: (low, last)})
        body = [*made.body()]
        indent = loop[0][: len(loop[0]) - len(loop[0].lstrip())]
        return [*(indent + line for line in dict.fromkeys(made.before)), loop[0], *body]

    def body(self) -> Iterator[str]:
        """The loop's lines after its head, without what is asked before."""
        deep = len(self.loop[0]) - len(self.loop[0].lstrip()) + (4 if "strip_end(" in "".join(self.loop[:4]) else 2)
        pending = ""
        for line in self.loop[1:]:
            indent, code = line[: len(line) - len(line.lstrip())], line.strip()
            if pending:
                overflow = _OVERFLOW.fullmatch(code)
                text = self.computed(overflow) if overflow and overflow[4] == pending else None
                yield f"{indent}int64_t {pending};" if text is None else indent + text
                pending = ""
                if text is not None:
                    continue
            if len(indent) == deep and (alone := re.fullmatch(r"int64_t (\w+);", code)):
                pending = alone[1]
                continue
            if len(indent) == deep:
                self.note(code)
                if (check := _CHECK.fullmatch(code)) and self.asked(check[1]):
                    continue
            yield line

    def note(self, code: str) -> None:
        known = _KNOWN.fullmatch(code)
        if known and (ends := self.ends_of(known[2])) is not None:
            self.ends[known[1]] = ends

    def ends_of(self, text: str) -> tuple[str, str] | None:
        """What a sum is in the first iteration and in the last; None if it is not linear."""
        names = set(NAME.findall(text))
        if not _SUM.fullmatch(text) or not names & self.changing <= self.ends.keys():
            return None
        if any(sum(one in self.ends for one in NAME.findall(term)) > 1 for term in re.findall(r"\w+ \* \w+", text)):
            return None
        first, last = self._end(text, 0), self._end(text, 1)
        return _without_zeros(first), _without_zeros(last)

    def _end(self, text: str, which: int) -> str:
        def of(name: re.Match[str]) -> str:
            end = self.ends[name[0]][which] if name[0] in self.ends else name[0]
            return end if re.fullmatch(r"\w+", end) or end == text else f"({end})"

        return re.sub(r"[A-Za-z_]\w*", of, text)

    def computed(self, overflow: re.Match[str]) -> str | None:
        """The line that computes without a check; None where it must have one."""
        kind, left, right, name = overflow.groups()
        one, other = self.ends_of(left), self.ends_of(right)
        linear = [side for side in (left, right) if set(NAME.findall(side)) & self.ends.keys()]
        if one is None or other is None or not linear or (kind == "mul" and len(linear) > 1):
            return None
        first, last = fresh((f"{name}_first", f"{name}_last"), "\n".join([self.taken, *self.before]))
        asked = " || ".join(
            f"__builtin_{kind}_overflow({a}, {b}, &{end})" for a, b, end in zip(one, other, (first, last), strict=True)
        )
        self.before += [
            f"int64_t {first};",
            f"int64_t {last};",
            f"if ({self.runs} && ({asked})) return integer_overflow;",
        ]
        self.ends[name] = first, last
        sides = [side if re.fullmatch(r"\w+", side) else f"({side})" for side in (left, right)]
        return f"const int64_t {name} = {sides[0]} {_SIGNS[kind]} {sides[1]};"

    def asked(self, condition: str) -> bool:
        """Whether a check of places was made for the whole loop."""
        parts = condition.split(" || ")
        places = [_OUTSIDE.fullmatch(part) for part in parts]
        found: list[str] = []
        for place in places:
            ends = None if place is None else self.ends_of(place[1])
            if place is None or ends is None or place[2].partition(".")[0] in self.changing:
                return False
            found += dict.fromkeys(f"outside({end}, {place[2]})" for end in ends)
        self.before.append(f"if ({self.runs} && ({' || '.join(found)})) return index_out_of_range;")
        return True


def _without_zeros(text: str) -> str:
    """The same sum, without what adds nothing."""
    text = re.sub(r"^\((\w+ [-+] \w+)\)(?=$| [-+])", r"\1", text)
    return re.sub(r" [-+] 0(?! \*|\w)", "", re.sub(r"^0 \+ ", "", text))
