"""Array programs in, with loops that take the lanes that go on alone once half of many are done, out.

    while True:                        waiting = None
        active = x > 1                 while True:
        if not active.any(): break         active = x > 1
        x = where(active, x / a, x)        if not active.any(): break
                                           x = where(active, x / a, x)
                                           waiting, x, a = those_that_go_on(active, waiting, (x,), (a,))
                                       x, = all_lanes(waiting, (x,))

In the loop the axis is another one, of as many lanes as are left. What the lanes hold from one iteration to the next
is held for them, and what they are given from outside is taken along; a lane that is done stays done. Lanes along
several axes are those of one while the loop runs: ``shape, x, = as_one_axis(2, (x,))``, then ``as_axes(shape, (x,))``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from looplift.base.data import fields_of, replace
from looplift.ir.array import (
    Assign,
    Axis,
    Check,
    For,
    Forever,
    LeaveUnless,
    Node,
    Program,
    Step,
    changed_by,
    operands_of,
    reachable,
)
from looplift.ir.facts import Kind

LANEWISE = frozenset(
    """elementwise where cast retype full fold owned spread gather matmul contract method unsqueezed transposed batched
    vmapped custom entry each join slice module leading""".split()
)
"""Operations on each lane by itself, whatever lanes there are."""
MANY_ONE_BY_ONE = "64"
"""How many lanes are many where Python computes something for one after the other."""
PIECES = ("pieces", "terms")
"""Attributes that mention operands again."""
NAME = Kind("tuple")
Around = Callable[[For | Forever, list[Step], set[str]], list[Step]]
"""Makes of a loop, the steps before it and the names that are taken the steps in its place."""


class Stays(Exception):
    """The loop stays as it is."""


def narrowed(program: Program) -> Program:
    """The same program; loops that lanes leave at different times go on with fewer lanes."""
    if program.library != "torch" or program.gradients:
        return program
    return around_loops(program, _around)


def around_loops(program: Program, around: Around) -> Program:
    """The program with its loops that stay as what another function puts in their places."""
    taken = names_in(program)
    steps: list[Step] = []
    for step in program.steps:
        try:
            made = around(step, steps, taken) if isinstance(step, For | Forever) else [step]
        except Stays:
            made = [step]
        steps += made
    return replace(program, steps=steps)


def names_in(program: Program) -> set[str]:
    roots = [node for step in program.steps for node in operands_of(step)] + [node for _, node in program.results]
    texts = (str(node.attrs.get("text", "")) for node in reachable(roots))
    words = {word for text in texts for word in re.findall(r"\b[A-Za-z_]\w*", text)}
    return words | changed_by(program.steps) | {name for name, _ in program.results}


def _around(loop: For | Forever, before: list[Step], taken: set[str]) -> list[Step]:
    """The loop with fewer and fewer lanes, and the steps before and after it."""
    active, axes = activity(loop)
    held = held_in(loop, before, axes)
    waiting = fresh("waiting", taken)
    fewer = Fewer(axes, loop, taken, waiting, held[0])
    body = fewer.steps(loop.body)
    given = list(fewer.given.values())
    one_by_one = any(node.op == "each" for node in reachable([node for step in body for node in operands_of(step)]))
    goes_on = called("those_that_go_on", active, waiting, held, given, *([MANY_ONE_BY_ONE] if one_by_one else []))
    none = Node("const", (), (), Kind("none"), {"value": None})
    together, apart = as_one_axis(held, len(axes), taken, loop.serial) if len(axes) > 1 else ([], [])
    return [
        *together,
        *(Assign(name, fewer.flat(node), serial=loop.serial) for node, name in fewer.given.items()),
        Assign(waiting, none, serial=loop.serial),
        replace(loop, body=[*body, Assign(",".join((waiting, *held, *given)), goes_on)]),
        Assign(",".join(held), called("all_lanes", waiting, held), serial=loop.serial),
        *apart,
    ]


def as_one_axis(held: list[str], axes: int, taken: set[str], serial: int) -> tuple[list[Step], list[Step]]:
    """What makes one axis of those of the values that are held, and what makes them again of it."""
    shape, names = fresh("shape", taken), ",".join(held)
    together = Assign(f"{shape},{names}", called("as_one_axis", str(axes), held), serial=serial)
    return [together], [Assign(names, called("as_axes", shape, held), serial=serial)]


def called(helper: str, *operands: str | list[str]) -> Node:
    names = [name for one in operands for name in ([one] if isinstance(one, str) else one)]
    args = tuple(Node("name", (), (), NAME, {"text": name, "local": True}, name) for name in names)
    return Node("narrowing", args, (), NAME, {"helper": helper, "operands": operands})


def held_in(loop: For | Forever, before: list[Step], axes: tuple[Axis, ...]) -> list[str]:
    """The names of what each lane holds from one iteration to the next."""
    entered = {name for step in before if isinstance(step, Assign) for name, _ in assigned(step)}
    pairs = [pair for step in loop.body if isinstance(step, Assign) for pair in assigned(step)]
    held = [name for name, value in pairs if name in entered and value.axes[: len(axes)] == axes]
    if not held or any(name in entered and name not in held for name, _ in pairs):
        raise Stays
    return held


def activity(loop: For | Forever) -> tuple[str, tuple[Axis, ...]]:
    """The name of the lanes that go on, and their axes."""
    for step in loop.body:
        if isinstance(step, LeaveUnless) and step.cond.op == "name" and step.cond.axes:
            if not any(axis.is_ragged for axis in step.cond.axes):
                return step.cond.attrs["text"], step.cond.axes
    raise Stays


def assigned(step: Assign) -> list[tuple[str, Node]]:
    names = step.name.split(",")
    values = step.node.args if step.node.op == "display" and step.node.attrs.get("bare") else (step.node,) * len(names)
    return list(zip(names, values, strict=True))


def fresh(hint: str, taken: set[str]) -> str:
    name, count = hint, 1
    while name in taken:
        count += 1
        name = f"{hint}_{count}"
    taken.add(name)
    return name


class Fewer:
    """The steps of a loop on an axis of the lanes that are left; ``given``: what these take along, and its names."""

    def __init__(self, axes: tuple[Axis, ...], loop: Step, taken: set[str], waiting: str, held: str) -> None:
        self.old, self.changed, self.taken = axes, {*changed_by([loop]), waiting}, taken
        self.waiting = Node("name", (), (), NAME, {"text": waiting, "local": True}, waiting)
        self.axis = replace(axes[0], lo=Node("const", attrs={"value": 0}), step=1)
        one = Node("name", (), (), NAME, {"text": held, "local": True}, held)
        self.axis.extent = Node("extent", (one,), attrs={"dim": 0})
        self.given: dict[Node, str] = {}
        self.made: dict[int, Node] = {}
        self.known: dict[int, bool] = {}

    def steps(self, steps: list[Step]) -> list[Step]:
        return [self.step(step) for step in steps]

    def step(self, step: Step) -> Step:
        match step:
            case Check() | LeaveUnless():
                return replace(step, cond=self.node(step.cond))
            case Assign() if not step.function and not step.memory:
                if step.node.op == "display":
                    args = tuple(map(self.node, step.node.args))
                    return replace(step, node=replace(step.node, args=args))
                return replace(step, node=self.node(step.node))
            case Forever():
                return replace(step, body=self.steps(step.body))
            case For():
                lo, hi, stride = map(self.node, step.bounds)
                return replace(step, bounds=(lo, hi, stride), body=self.steps(step.body))
        raise Stays

    def node(self, node: Node) -> Node:
        if node.serial not in self.made:
            self.made[node.serial] = self._made(node)
        return self.made[node.serial]

    def _made(self, node: Node) -> Node:
        if any(axis.is_ragged for axis in node.axes):
            if self._varies(node):
                raise Stays
            return node
        here = self._of(node)
        if here and node.axes[: len(here)] != here:
            raise Stays
        if not self._varies(node):
            return self._given(node) if here else node
        axes = self._renamed(node)
        if node.op == "name":
            if here and here != self.old:
                raise Stays
            return replace(node, axes=axes)
        if here and not any(map(self._of, node.args)):
            return self.of_lanes(node, axes)
        if not here and any(map(self._of, node.args)):
            raise Stays
        if here and (
            node.op not in LANEWISE or "copy" in node.attrs or any(map(self._tells_axis, node.attrs.values()))
        ):
            raise Stays
        attrs = {key: self._renewed(value) if key in PIECES else value for key, value in node.attrs.items()}
        return replace(node, args=tuple(map(self.node, node.args)), axes=axes, attrs=attrs)

    def of_lanes(self, node: Node, axes: tuple[Axis, ...]) -> Node:
        """What an iteration reads for all lanes, as what the lanes that are left have of it."""
        return Node("of_lanes", (self.flat(node), self.waiting), axes, node.kind, {}, node.hint)

    def _of(self, node: Node) -> tuple[Axis, ...]:
        """Those of the axes that a value has."""
        return tuple(axis for axis in self.old if axis in node.axes)

    def _renamed(self, node: Node) -> tuple[Axis, ...]:
        """The axes of a value where they are one."""
        rest = tuple(axis for axis in node.axes if axis not in self.old)
        return (self.axis, *rest) if len(rest) < len(node.axes) else rest

    def flat(self, node: Node) -> Node:
        """A value from outside of the loop, with one axis of all lanes."""
        if len(self.old) == 1:
            return node
        return Node("flat_lanes", (node,), self._renamed(node), node.kind, {"of": self.old}, node.hint)

    def _renewed(self, value: Any) -> Any:
        """The pieces of a subscript, with the operands that the node has now."""
        if isinstance(value, Node):
            return self.node(value)
        if isinstance(value, list | tuple):
            return type(value)(map(self._renewed, value))
        if value in self.old:
            raise Stays
        inner = {name: getattr(value, name) for name in fields_of(value)}
        if any(one in self.old for one in inner.values()):
            raise Stays
        changed = {name: self.node(one) for name, one in inner.items() if isinstance(one, Node)}
        return replace(value, **changed) if changed else value

    def _varies(self, node: Node) -> bool:
        """Whether iterations change a value."""
        if node.serial not in self.known:
            own = node.op == "name" and node.attrs["text"] in self.changed
            self.known[node.serial] = own or any(map(self._varies, node.args))
        return self.known[node.serial]

    def _given(self, node: Node) -> Node:
        if node not in self.given:
            self.given[node] = fresh(node.hint if node.hint.isidentifier() else "given", self.taken)
        name = self.given[node]
        return Node("name", (), self._renamed(node), node.kind, {**node.attrs, "text": name, "local": True}, name)

    def _tells_axis(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return any(map(self._tells_axis, value))
        return value in self.old
