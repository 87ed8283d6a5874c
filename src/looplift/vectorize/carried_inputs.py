"""What a loop that stays carries and remembers in; which inputs only some iterations, or some lanes, take in it, out.

out = []                             the first item has no gradient, the second one has that of w, and so on: in
for t in range(n):                   batched code all items are one array, of which each row has the same inputs
    out.append(2 * h)
    h = torch.tanh(h + w)

A name stands for a value of which nothing is seen any more. So what it may be made of, and what it surely is made of in
each iteration, is worked out from the values before and at the end of an iteration, to a fixpoint.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from looplift.base.data import dataclass, field
from looplift.vectorize import doubts, nodes
from looplift.vectorize.reached import in_each_lane, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from looplift.ir.array import Node
    from looplift.vectorize.context import Context

Inputs = frozenset[int]


@dataclass(frozen=True)
class Made:
    """The inputs that a name may have, those that it surely has, and those that some of its lanes may lack."""

    may: Inputs
    surely: Inputs
    doubtful: Inputs = frozenset()


@dataclass(eq=False)
class Carried:
    """``pairs``: for each carried value what it is before the loop, None where it is nothing, its name inside, and its
    next value. ``written``: arrays that the loop writes to. ``masked``: whether lanes may have fewer iterations than
    others; ``limit``: how many each has, where that is known before. ``runs``: whether each has one, but for that."""

    context: Context
    pairs: list[tuple[Node | None, Node, Node]]
    written: Inputs
    masked: bool
    limit: Node | None
    runs: bool
    of: dict[int, Made] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = [value for init, _, last in self.pairs for value in (init, last) if value is not None]
        every = _union(made_of(self.context, value).may for value in values)
        self.of = {inside.serial: Made(frozenset(), every) for _, inside, _ in self.pairs}
        while self._grow() or self._shrink():
            pass

    def _grow(self) -> bool:
        """Whether something more may be taken, or lacked, than was known."""
        moved = False
        for init, inside, last in self.pairs:
            known, made, before = self.of[inside.serial], self.made(last), self._before(init)
            may, doubtful = known.may | made.may | before.may, known.doubtful | made.doubtful
            if (may, doubtful) != (known.may, known.doubtful):
                self.of[inside.serial] = Made(may, known.surely, doubtful)
                moved = True
        return moved

    def _shrink(self) -> bool:
        """Whether something is less sure than was thought."""
        moved = False
        for init, inside, last in self.pairs:
            known = self.of[inside.serial]
            surely = known.surely & self.made(last).surely
            surely = surely if init is None else surely & self._before(init).surely
            if surely != known.surely:
                self.of[inside.serial] = Made(known.may, surely, known.doubtful)
                moved = True
        return moved

    def _before(self, init: Node | None) -> Made:
        return self.made(init) if init is not None else Made(frozenset(), frozenset())

    def made(self, value: Node) -> Made:
        """What one iteration makes; what it reads of arrays that the loop writes to is not what others read."""
        found = made_of(self.context, value, self.of)
        return Made(found.may, found.surely - self.written, found.doubtful)

    def remembered(self, made: Node, value: Node) -> None:
        """``made`` has what a value was in each iteration."""
        found = self.made(value)
        if found.may <= found.surely and not found.doubtful:  # all of them ask for a gradient, or none does
            self.context.doubts.pop(doubts.number_of(made), None)
        lacking = found.may - found.surely if len(found.may) > 1 else frozenset()  # one is there where one asks
        doubts.record_unknown(self.context, made, lacking | found.doubtful)
        self.context.made_of[made.serial] = Made(found.may, found.surely, found.doubtful | lacking)

    def after(self, made: Node, inside: Node) -> None:
        """``made`` is a carried value after the loop."""
        init, last = next((init, last) for init, name, last in self.pairs if name is inside)
        known, found, before = self.of[inside.serial], self.made(last), self._before(init)
        may, surely, doubtful = known.may | found.may, found.surely, self._untold(inside, last)
        if not self.runs and init is not None:
            surely = surely & before.surely
        if self.masked and made.axes:
            doubtful |= may - surely
            if self.limit is not None:
                ran = nodes.compare("ge", self.limit, nodes.const(1))
                doubts.record(self.context, made, ran, set(surely - before.surely))
        self.context.made_of[made.serial] = Made(may, surely, doubtful)
        doubts.record_unknown(self.context, made, doubtful)

    def _untold(self, inside: Node, last: Node) -> Inputs:
        """What some lanes may lack, but for what the lanes of the value itself tell."""
        local = [inputs for lanes, inputs in doubts.found_in(self.context, last) if doubts.is_local(lanes)]
        others = [self.of[serial].doubtful for serial in leaves(last) & set(self.of) - {inside.serial}]
        return _union([*local, *others])


def made_of(context: Context, value: Node, known: Mapping[int, Made] = MappingProxyType({})) -> Made:
    """The inputs of a value, through the names that it is made of; ``known``: what a loop around it carries."""
    may, surely, doubtful = set(), set(), set()
    for _, inputs in doubts.found_in(context, value):
        doubtful |= inputs
    sure = leaves(value, surely=True)
    for serial in leaves(value):
        found = known.get(serial) or _through(context.made_of.get(serial, _itself(serial)), known)
        may |= found.may
        doubtful |= found.doubtful
        surely |= found.surely if serial in sure else frozenset()
    if doubtful:
        for serial in in_each_lane(value):
            found = known.get(serial) or _through(context.made_of.get(serial, _itself(serial)), known)
            doubtful -= found.surely - found.doubtful
    return Made(frozenset(may), frozenset(surely), frozenset(doubtful))


def _itself(serial: int) -> Made:
    return Made(frozenset((serial,)), frozenset((serial,)))


def _through(found: Made, known: Mapping[int, Made]) -> Made:
    """What a name is made of, where some of that is carried by a loop around it."""
    parts = [known.get(serial, _itself(serial)) for serial in found.may]
    surely = _union(known.get(serial, _itself(serial)).surely for serial in found.surely)
    return Made(_union(made.may for made in parts), surely, found.doubtful.union(*(made.doubtful for made in parts)))


def _union(sets: Iterable[Inputs]) -> Inputs:
    return frozenset().union(*sets)


def note_choice(context: Context, name: Node, then: Node, orelse: Node) -> None:
    """A name for what one side of an ``if`` or the other one has made."""
    if not nodes.may_have_gradient(name.kind.dtype) or not context.needs_grad:
        return
    first, second = made_of(context, then), made_of(context, orelse)
    doubtful = first.doubtful | second.doubtful
    context.made_of[name.serial] = Made(first.may | second.may, first.surely & second.surely, doubtful)
    doubts.record_unknown(context, name, doubtful)
