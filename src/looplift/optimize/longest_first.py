"""Array programs in; out, with loops whose lanes know how often they run them going on with the first lanes alone.

    for t in range(lengths.amax()):        order, counts, x, a = longest_first(lengths, (x,), (a,))
        active = t < lengths               done = []
        if not active.any(): break         for t in range(lengths.amax()):
        x = where(active, x / a, x)            x, a = first_lanes(counts, t, done, (x,), (a,))
                                               x = x / a
                                           x, = in_old_order(order, done, (x,))

Lanes stand in the order of their lengths, so those that go on are the first ones, and no step has to choose. See
``narrowing`` for lanes that leave as they please.
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.array import Assign, Axis, For, Forever, LeaveUnless, Node, Program, Step, operands_of, reachable
from looplift.ir.facts import Kind
from looplift.optimize.by_step import BySteps
from looplift.optimize.narrowing import (
    NAME,
    Fewer,
    Stays,
    activity,
    around_loops,
    as_one_axis,
    assigned,
    called,
    fresh,
    held_in,
)


def longest_first(program: Program) -> Program:
    """The same program; in loops that lanes run so many times each, no lane waits for the others."""
    return around_loops(program, _around) if program.library == "torch" else program


def _around(loop: For | Forever, before: list[Step], taken: set[str]) -> list[Step]:
    """The loop of the first lanes in each step, and the steps before and after it."""
    active, axes = activity(loop)
    limit = _limit(loop, active)
    assert isinstance(loop, For)
    held = held_in(loop, before, axes)
    order, counts, done = (fresh(hint, taken) for hint in ("order", "counts", "done"))
    first = _First(axes, loop, taken, active, held[0], (order, counts))
    body = first.body()
    by_steps = first.by_steps.before(body, loop.serial)
    given, passed = list(first.given.values()), first.read_in(body)
    if limit not in first.given:
        first.given[limit] = fresh("lengths", taken)
    sort = called("longest_first", first.given[limit], held, given)
    none = Node("empty_list", (), (), Kind("list"))
    left = called("first_lanes", counts, loop.name, done, held, passed)
    cut = Assign(",".join((*held, *passed)), left, serial=loop.serial)
    together, apart = as_one_axis(held, len(axes), taken, loop.serial) if len(axes) > 1 else ([], [])
    return [
        *together,
        *(Assign(name, first.flat(node), serial=loop.serial) for node, name in first.given.items()),
        Assign(",".join((order, counts, *held, *given)), sort, serial=loop.serial),
        *by_steps,
        Assign(done, none, serial=loop.serial),
        replace(loop, body=[cut, *body]),
        Assign(",".join(held), called("in_old_order", order, done, held), serial=loop.serial),
        *apart,
    ]


def _limit(loop: For | Forever, active: str) -> Node:
    """How often each lane runs a loop, where nothing else ends it there."""
    pairs = [pair for step in loop.body if isinstance(step, Assign) for pair in assigned(step)]
    tests = [node for name, node in pairs if name == active]
    if not isinstance(loop, For) or len(tests) != 1 or not _counts_up(loop):
        raise Stays
    (test,) = tests
    if test.op != "elementwise" or test.attrs["name"] != "lt" or test.args[1].axes != test.axes:
        raise Stays
    count, limit = test.args
    if count.op != "name" or count.attrs["text"] != loop.name:
        raise Stays
    return limit


def _counts_up(loop: For) -> bool:
    start, _, step = loop.bounds
    return start.op == step.op == "const" and (start.attrs["value"], step.attrs["value"]) == (0, 1)


class _First(Fewer):
    """The steps of a loop on the lanes that run them: what was chosen for these is there for all."""

    def __init__(
        self, axes: tuple[Axis, ...], loop: For, taken: set[str], active: str, held: str, names: tuple[str, str]
    ) -> None:
        super().__init__(axes, loop, taken, "", held)
        self.active, self.loop, self.names = active, loop, (*names, loop.name)
        self.by_steps = BySteps(self.axis, loop.name, names[1], taken)

    def body(self) -> list[Step]:
        """The steps, without what nothing reads any more."""
        steps = [step for step in self.loop.body if not self._leaves(step)]
        tests = [step for step in steps if isinstance(step, Assign) and step.name == self.active]
        made = {id(step): self.step(step) for step in steps if step not in tests}
        read = reachable([node for step in made.values() for node in operands_of(step)])
        if any(node.op == "name" and node.attrs["text"] == self.active for node in read):
            made |= {id(step): self.step(step) for step in tests}
        return [made[id(step)] for step in steps if id(step) in made]

    def read_in(self, steps: list[Step]) -> list[str]:
        """The names of what lanes take along, of those that steps read."""
        read = {
            node.attrs["text"]
            for node in reachable([one for step in steps for one in operands_of(step)])
            if node.op == "name"
        }
        return [name for name in self.given.values() if name in read]

    def _leaves(self, step: Step) -> bool:
        cond = step.cond if isinstance(step, LeaveUnless) else None
        return cond is not None and cond.op == "name" and cond.attrs["text"] == self.active

    def of_lanes(self, node: Node, axes: tuple[Axis, ...]) -> Node:
        names = (Node("name", (), (), NAME, {"text": name, "local": True}, name) for name in self.names)
        return Node("of_first_lanes", (self.flat(node), *names), axes, node.kind, {}, node.hint)

    def _made(self, node: Node) -> Node:
        if (settled := self._settled(node)) is not None:
            return settled
        made = super()._made(node)
        return self.by_steps.of_step(made, {*self.given.values()}, self._varies)

    def _settled(self, node: Node) -> Node | None:
        """What a value is where a test is known that it is made of; None for others."""
        if node.op == "where" and (known := self._known(node.args[0])) is not None:
            chosen = node.args[1 if known else 2]
            return self.node(chosen) if chosen.axes == node.axes and chosen.kind == node.kind else None
        if node.op == "some" and self._is_under_active(node.args[0]):
            return replace(node, args=(self.node(node.args[0]),))
        if node.op != "elementwise" or len(node.args) != 2:
            return None
        first, second = node.args
        if node.attrs["name"] == "add" and node.kind.family == "int" and self._known(second):
            return replace(node, args=(self.node(first), Node("const", (), (), node.kind, {"value": 1})))
        for test, other in ((first, second), (second, first)) if node.attrs["name"] == "and_" else ():
            if self._known(test) and other.axes == node.axes and other.kind.rank == node.kind.rank:
                return self.node(other)
        return None

    def _is_under_active(self, mask: Node) -> bool:
        """Whether a mask holds in lanes that run a step alone."""
        if mask.op == "elementwise" and mask.attrs["name"] == "and_":
            return any(map(self._is_under_active, mask.args))
        return self._known(mask) is True

    def _known(self, test: Node) -> bool | None:
        """Whether a test holds in all lanes that run a step, or in none; None where that depends."""
        if test.op == "name":
            return True if test.attrs["text"] == self.active else None
        if test.op == "some":
            return self._known(test.args[0])
        if test.op != "elementwise":
            return None
        found = [self._known(arg) for arg in test.args]
        if test.attrs["name"] == "not":
            return None if found[0] is None else not found[0]
        if test.attrs["name"] == "and_":
            return False if False in found else True if all(found) else None
        return None
