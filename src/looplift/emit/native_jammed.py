"""Several iterations of a loop at once, each of which has a loop of its own that adds up, or looks for, a number.

for s in range(n):               for (; n - s_first >= 8; s_first += 8) {
    total = 0.0                    double total_of[8] = {};
    for r in range(m):             for (int64_t r = 0; r < m; ++r)
        total += a[r] * b[r, s]      for (int lane = 0; lane < 8; ++lane)
    out[s] = total                     total_of[lane] += a(r) * b(r, s_first + lane); ...

Each number is computed by the same operations in the same order as before, but next to seven others, which a processor
does at once; alone, each addition waits for the one before. That is unroll-and-jam (Callahan, Cocke and Kennedy,
*Estimating interlock and improving balance for pipelined architectures*, 1988) by the lanes of a vector. Like
``native_independent`` it goes by the text, and takes no line that it does not understand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from looplift.base.data import dataclass
from looplift.emit.native_independent import (
    LOOP,
    NAME,
    Context,
    Independent,
    blocks,
    fresh,
    independent,
    is_plain,
    meeting_none,
)
from looplift.emit.native_lanes import (
    DECLARED,
    FIRST,
    GIVES_UP,
    LAST,
    NEST,
    Around,
    NotEven,
    Once,
    Run,
    Steps,
    Taker,
    gains,
    kept_of,
    may_be_repeated,
    may_give_up,
    parsed,
    varying_of,
    warns_for_others,
    without_unread,
)

LANES = 8


def jammed(loop: list[str], context: Context) -> list[str]:
    """A nest of loops with those inside of it that run several iterations at once."""
    found, body = [loop[0]], loop[1:]
    for at, end, is_loop in blocks(body):
        if not is_loop:
            found.append(body[at])
            continue
        inner, deeper = body[at:end], context.inside([loop[0], *body[:at]], body[end:])
        text = jammed(inner, deeper)
        lanes = Lanes.of(inner, deeper) if text == inner and is_plain(body, at) else None
        found += text if lanes is None else lanes.text(inner)
    return found


@dataclass(frozen=True)
class Lanes:
    """A loop whose iterations run side by side: what it does, and the types of what each lane keeps."""

    found: Independent
    steps: Steps
    kept: dict[str, str]

    @classmethod
    def of(cls, loop: list[str], context: Context) -> Lanes | None:
        """How a loop runs in lanes; None where it does not, or would gain nothing."""
        match = LOOP.fullmatch(loop[0])
        if match is None or "++" not in loop[0] or not any(NEST.fullmatch(line.strip()) for line in loop[1:]):
            return None
        lines = [line.strip() for line in loop[1:-1] if not line.lstrip().startswith("//")]
        try:
            body = parsed(without_unread(lines))
            varying, kinds = varying_of(body, match[1])
            steps = Taker(varying, match[1], context.functions).of(body)
        except NotEven:
            return None
        kept = kept_of(steps, kinds)
        if not gains(steps, kept) or not may_give_up(steps) or warns_for_others(steps):
            return None
        found = independent(loop, context)
        return None if found is None or found.lines != loop else cls(found, steps, kept)

    def text(self, loop: list[str]) -> list[str]:
        """The loop, with the same body, and in front of it one over as many lanes as there are at a time."""
        index, low, high = LOOP.fullmatch(loop[0]).groups()  # pyright: ignore[reportOptionalMemberAccess]
        names = (f"{index}_first", f"{index}_last", "lane", "apart", f"{index}_alone", *(f"{n}_of" for n in self.kept))
        taken = "\n".join([*loop, *self.found.given, *self.found.others])
        first, last, lane, apart, alone, *arrays = fresh(names, taken)
        marks = {FIRST: first, LAST: last, GIVES_UP: f"goto {alone};"}
        own = {name: f"{place}[{lane}]" for name, place in zip(self.kept, arrays)}
        steps = [re.sub("@[a-z]+", lambda mark: marks[mark[0]], line) for line in _Text(self, first, lane, own).steps()]
        enough, meets_none = f"{high} - {first} >= {LANES}", meeting_none(self.found)
        indent = " " * (len(loop[0]) - len(loop[0].lstrip()))
        lines = [
            "{",
            f"  int64_t {first} = {low};",
            "#ifndef CAREFUL",
            *([f"  const bool {apart} = {enough} && {meets_none};"] if meets_none else []),
            "  // several iterations at once, with the operations of each in their order",
            *(f"  {line}" for line in self.opening(first, low, high, apart if meets_none else "")),
            f"    const int64_t {last} = {first} + {LANES - 1};",
            *(f"    {self.kept[name]} {place}[{LANES}] = {{}};" for name, place in zip(self.kept, arrays)),
            *(f"    {line}" for line in steps),
            "  }",
            *([f"{alone}:;"] if any(marks[GIVES_UP] in line for line in steps) else []),
            "#endif",
            "  " + loop[0].strip().replace(f"{index} = {low};", f"{index} = {first};"),
            *(f"  {line.removeprefix(indent)}" for line in loop[1:]),
            "}",
        ]
        return [line if line.startswith("#") else indent + line for line in lines]

    def opening(self, first: str, low: str, high: str, apart: str) -> list[str]:
        """What goes over the range; the last ones begin earlier, and some are done again, where that is the same."""
        condition = f"{apart} && " if apart else ""
        if not may_be_repeated(self.steps):
            return [f"for (; {condition}{high} - {first} >= {LANES}; {first} += {LANES}) {{"]
        return [
            f"for (; {condition}{first} < {high}; {first} += {LANES}) {{",
            f"  if ({high} - ({low}) < {LANES}) break;",
            f"  if ({high} - {first} < {LANES}) {first} = {high} - {LANES};",
        ]


# ---------------------------------------------------------------- the text


@dataclass(frozen=True)
class _Text:
    """Writes what lanes do; ``places`` are those of what they keep."""

    lanes: Lanes
    first: str
    lane: str
    places: dict[str, str]

    def steps(self) -> Iterator[str]:
        return self.of(self.lanes.steps)

    def of(self, steps: Steps) -> Iterator[str]:
        for one in steps:
            if isinstance(one, Around):
                for head, inner in one.parts:
                    yield head
                    yield from (f"  {line}" for line in self.of(inner))
                yield "}"
            elif isinstance(one, Once):
                yield one.text
            else:
                yield from self.run(one)

    def run(self, run: Run) -> Iterator[str]:
        text = "\n".join(run.lines)
        named = set(NAME.findall(text))
        if not run.asks:
            yield "#pragma omp simd"
        yield f"for (int {self.lane} = 0; {self.lane} < {LANES}; ++{self.lane}) {{"
        if (index := self.lanes.found.index) in named:
            yield f"  const int64_t {index} = {self.first} + {self.lane};"
        # what a branch sets is stored anyway: to store for some lanes alone takes longer
        whole = "continue;" not in text
        taken = {name: place for name, place in self.places.items() if name in named}
        for name, place in taken.items():
            yield f"  {self.lanes.kept[name]}{'' if whole else '&'} {name} = {place};"
        depth = 1
        for line in run.lines:
            depth -= line.startswith("}")
            if line := self.set_in_place(line):
                yield "  " * depth + line
            depth += line.endswith("{")
        for name, place in taken.items():
            if whole and re.search(rf"(?:^|[ (]){name} (?:[-+*/|&^]|<<|>>)?= ", text, re.MULTILINE):
                yield f"  {place} = {name};"
        yield "}"

    def set_in_place(self, line: str) -> str:
        """What is kept is declared in front of all loops, and set where it was declared."""
        match = DECLARED.fullmatch(line)
        if match is None or match[3] not in self.places:
            return line
        return f"{match[3]} = {match[4]};" if match[4] else ""
