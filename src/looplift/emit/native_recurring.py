"""What a loop stored in the iterations before, held in variables, so that the next one need not wait for memory.

for t in range(1, n):              double y_last = 0;
    y[t] = a * y[t - 1] + x[t]     if (1 < n && !outside(0, y.size[0])) y_last = y(0);
                                   for (int64_t t = 1; t < n; ++t) {
                                     y_last = a * y_last + x(t);
                                     y(t) = y_last;
                                   }

That is scalar replacement across iterations (Callahan, Carr and Kennedy, *Improving register allocation for subscripted
variables*, 1990). It goes by the text, like ``native_independent``: each iteration stores one element of an array, at
its own index, and nothing else is stored into memory that the array might be in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from looplift.emit.native_independent import (
    FORM,
    STORED,
    Context,
    after,
    arguments_of,
    assigned,
    blocks,
    code_of,
    declared,
    fresh,
    has_other_name,
    is_plain,
    outer_names,
)  # fmt: skip

FAR = 3
"""So many iterations back at most are held."""
_HEAD = re.compile(r" *for \(int64_t (\w+) = ([^;]+); \1 (<|>) ([^;]+);(?: (?:\+\+|--)\1)?\) \{")
_STORE = re.compile(r"(\w+)(\([^()]*\)) = (.*);")
_TYPES = ("float", "double", "int64_t", "int32_t")


def recurring(lines: list[str], context: Context) -> tuple[list[str], set[str]]:
    """The lines of a block, the loops in which hold what they stored, and the arrays that they stored it into: no two
    elements of these may be in one place."""
    found: list[str] = []
    arrays: set[str] = set()
    for at, end, is_loop in blocks(lines):
        if not is_loop:
            found.append(lines[at])
            continue
        loop, around = lines[at:end], context.inside(found, lines[end:])
        if (held := _holding(loop, around) if is_plain(lines, at) else None) is not None:
            made, inside = held[0], {held[1]}
        else:
            made, inside = recurring(loop[1:], around)
            made = [loop[0], *made]
        found += made
        arrays |= inside
    return found, arrays


class _Stored(NamedTuple):
    """The store of a loop, in this line of it: the array and the type of its elements, the subscripts, and at which of
    these the loop's index is, which goes up or down."""

    line: int
    name: str
    kind: str
    subscripts: list[str]
    axis: int
    value: str
    sign: str

    def at(self, start: str, back: int) -> list[str]:
        """The subscripts of so many iterations before."""
        return [f"{start} {self.sign} {back}" if k == self.axis else part for k, part in enumerate(self.subscripts)]

    def read(self, start: str, back: int) -> re.Pattern[str]:
        """Where the element of so many iterations before is read."""
        return re.compile(r"\b" + re.escape(f"{self.name}({', '.join(self.at(start, back))})"))


def _holding(loop: list[str], context: Context) -> tuple[list[str], str] | None:
    """A loop that holds what it stored, declared in front of it, and the array; None where there is nothing to hold."""
    match = _HEAD.fullmatch(loop[0])
    body = [line.strip() for line in loop]
    code = [line for line in body if not line.startswith(("//", "#"))]
    if match is None or not all(map(FORM.fullmatch, code)) or any("continue;" in line for line in code):
        return None
    index, low, order, high = match.groups()
    if not re.fullmatch(r"\w+(?: [-+] \w+)*", low):
        return None
    for stored in _stores(loop, index, "-" if order == "<" else "+", code, context):
        if depth := _depth(loop, stored, index):
            names = (f"{stored.name}_next", *(f"{stored.name}_last" for _ in range(depth)))
            following, *before = _names(names, "\n".join([*context.earlier(), *loop]))
            runs = f"{low} {order} {high}"
            first = [line for k, name in enumerate(before, 1) for line in _first(stored, low, runs, k, name)]
            indent = loop[0][: len(loop[0]) - len(loop[0].lstrip())]
            lines = [*(indent + line for line in first), *_body(loop, stored, index, following, before)]
            return lines, stored.name
    return None


def _depth(loop: list[str], stored: _Stored, index: str) -> int:
    """How many elements are held: what is read behind the store is one further back by then."""
    texts = [code_of(loop[: stored.line + 1]), code_of(loop[stored.line + 1 :])]
    reads = {k: stored.read(index, k) for k in range(1, FAR + 1)}
    return max((k + late for late, text in enumerate(texts) for k in reads if reads[k].search(text)), default=0)


def _names(wanted: tuple[str, ...], text: str) -> list[str]:
    found: list[str] = []
    for name in wanted:
        found += fresh((name,), "\n".join([text, *found]))
    return found


def _first(stored: _Stored, low: str, runs: str, back: int, name: str) -> list[str]:
    """What was there before the first iteration, if there is one that may read it."""
    parts = stored.at(low, back)
    if low.isdigit():
        parts[stored.axis] = str(int(low) + int(f"{stored.sign}{back}"))
    inside = [f"!outside({part}, {stored.name}.size[{k}])" for k, part in enumerate(parts)]
    there = f"{stored.name}({', '.join(parts)})"
    return [f"{stored.kind} {name} = 0;", f"if ({' && '.join([runs, *inside])}) {name} = {there};"]


def _body(loop: list[str], stored: _Stored, index: str, following: str, before: list[str]) -> list[str]:
    found: list[str] = []
    for k, line in enumerate(loop):
        held = before[1:] if k > stored.line else before
        for back, name in enumerate(held, 1):
            line = stored.read(index, back).sub(name, line)
        if k != stored.line:
            found.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        target, _, value = line.strip().partition(" = ")
        older = [f"{old} = {new};" for old, new in zip(before[:0:-1], before[-2::-1])]
        lines = [f"const {stored.kind} {following} = {value}", *older, f"{before[0]} = {following};"]
        found += [indent + one for one in (*lines, f"{target} = {following};")]
    return found


# ---------------------------------------------------------------- which stores


def _stores(loop: list[str], index: str, sign: str, code: list[str], context: Context) -> list[_Stored]:
    """The stores that every iteration comes to, of one element at its index."""
    start = len(loop[0]) - len(loop[0].lstrip()) + (4 if "strip_end(" in "".join(loop[:4]) else 2)
    outer = outer_names(code_of(context.earlier()))
    kinds, inside = outer.given | outer.made, declared(code) | assigned(code)
    found = []
    for place, line in enumerate(loop):
        store = _STORE.fullmatch(line.strip())
        if store is None or len(line) - len(line.lstrip()) != start:
            continue
        name, subscripts, value = store.groups()
        parts = arguments_of(subscripts)
        kind = kinds.get(name, "").partition(",")[0]
        varies = not inside.isdisjoint(re.findall(r"\w+", " ".join(part for part in parts if part != index)))
        if kind in _TYPES and parts.count(index) == 1 and not varies and _is_alone(name, outer.made, code, context):
            found.append(_Stored(place, name, kind, parts, parts.index(index), value, sign))
    return found


def _is_alone(name: str, made: dict[str, str], code: list[str], context: Context) -> bool:
    """Whether a loop stores into an array in one line, and other stores are of arrays that are certainly elsewhere."""
    text = "\n".join(code)
    stored = [match for line in code if (match := STORED.match(line))]
    names = [match[1] for match in stored]
    if names.count(name) != 1 or any(not rest.startswith(("(", ".size[")) for rest in after(name, text)):
        return False
    others = {*names} - {name}
    if re.search(r"\bcopy\(|\.(?:fill|push|data)\b|&\w|& \w+ = ", text) or "continue;" in text:
        return False
    if name not in made and "Held<" in code_of(context.earlier()):  # with care, that is an element of who knows what
        return False
    if has_other_name(name, code_of(context.since(name))):
        return False
    own = [one for one in (name, *others) if one in made and not has_other_name(one, code_of(context.since(one)))]
    return len(own) == 1 + len(others) or not others
