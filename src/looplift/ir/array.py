"""Array programs: what a scheduled region is lowered to, and what the optimiser rewrites and the emitter prints.

    Program = Step*                                   one region
    Step    = Run(kernel) | Check(cond) | Write(array, pieces, value) | For(name, range, body) | Forever(cond, body)
            | Choose(cond, then, orelse) | Assign(name, node) | Push(name, node) | Effect(text)
    Node    = op(args; axes, kind)                    a pure value

A node is labelled: its dimensions are its ``axes`` (loops that became dimensions, outermost first) followed by the
dimensions of one lane's value. Operands are aligned by label when they are printed, never by position. A Python
number that varies with no axis is a Python number in the emitted code too; with axes it is a tensor or array.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looplift.base.data import dataclass, field, fields_of, replace
from looplift.base.spans import NOWHERE, Span
from looplift.ir.facts import Kind

_serial = itertools.count(step=16)
"""Numbers of nodes and steps; those in between are for what comes in front of one that is there already."""


@dataclass(eq=False)
class Axis:
    """One loop that became a dimension.

    A ragged one is flat over the entries of all lanes of its ``parents``, ``lengths`` in each lane, in the order of the
    lanes. ``members`` is a mask whose elements that hold are the entries, where they are no run of integers. One that
    is as long as the longest lane's has iterations ``below`` a number in each lane.
    """

    name: str
    order: int
    extent: Node
    lo: Node
    step: int = 1
    parents: tuple[Axis, ...] = ()
    lengths: Node | None = None
    members: Node | None = None
    below: Node | None = None

    @property
    def is_ragged(self) -> bool:
        return bool(self.parents)


@dataclass(eq=False)
class Node:
    """One value. ``attrs`` holds what is no operand: names, dimensions, dtypes, subscript pieces.

    ``born``: the serial of the value that this one is in the place of, if any. What it reads is as it was then.
    """

    op: str
    args: tuple[Node, ...] = ()
    axes: tuple[Axis, ...] = ()
    kind: Kind = field(default_factory=lambda: Kind("int"))
    attrs: dict[str, Any] = field(default_factory=dict)
    hint: str = ""
    serial: int = field(default_factory=lambda: next(_serial))
    born: int | None = None

    @property
    def rank(self) -> int:
        """Dimensions in the emitted code."""
        return len(self.axes) + self.kind.rank

    @property
    def time(self) -> int:
        """When it is computed, among steps and their serials."""
        return self.serial if self.born is None else self.born


@dataclass(eq=False)
class Check:
    """Raise RequirementFailed unless ``cond`` (a Python bool or a tensor of lanes) holds."""

    cond: Node
    span: Span = NOWHERE


@dataclass(eq=False)
class Write:
    """``array[pieces] = value`` on the array bound to a name; ``mode``: set, add (accumulate), last (ordered)."""

    array: str
    node: Node
    mode: str
    operands: tuple[Node, ...]
    render: Any = None
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class Assign:
    """``name = node``: a name that is assigned more than once, as the carried values of a loop that stays.

    With ``memory`` it names an array before the first write to it: who reads ``node`` reads what is written.
    With a ``function`` that computes the node, into the memory that the value of the iteration before had.
    """

    name: str
    node: Node
    memory: bool = False
    function: str = ""
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class For:
    """A loop that stays a loop, over a range of Python integers."""

    name: str
    bounds: tuple[Node, Node, Node]
    body: list[Step]
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class Forever:
    """``while True:`` whose body leaves by ``LeaveUnless``."""

    body: list[Step]
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class LeaveUnless:
    cond: Node


@dataclass(eq=False)
class Choose:
    """``if`` on a condition that is the same for all lanes, inside a loop that stays."""

    cond: Node
    then: list[Step]
    orelse: list[Step]
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class Push:
    """``name.append(node)``: what a loop that stays leaves behind in each iteration."""

    name: str
    node: Node
    serial: int = field(default_factory=lambda: next(_serial))


@dataclass(eq=False)
class Effect:
    """A statement kept for its effect, in its old order: ``text`` with the operands' names filled in.

    It is repeated over ``axis``, whose extent is the last operand then.
    """

    text: str
    operands: tuple[Node, ...]
    axis: Axis | None = None


@dataclass(eq=False)
class Run:
    """A loop that is a native kernel: ``outputs = kernel(operands)``, which writes into ``stored`` arrays.

    With gradients the stored arrays come back as new ones, under ``stored`` names after the outputs.
    """

    kernel: Any
    outputs: list[str]
    operands: tuple[Node, ...]
    stored: list[str]
    gradients: bool = False
    serial: int = field(default_factory=lambda: next(_serial))


Step = Run | Check | Write | Assign | Push | For | Forever | LeaveUnless | Choose | Effect


@dataclass
class Program:
    """Steps in order, and the nodes that the region binds or returns, under their names.

    ``overwrites``: values that nobody can see any more may be overwritten, as no gradient needs them. ``memory``: for
    each leaf of the results the places that its memory may be of in the loop, None where nothing is known.
    ``gradients``: whether any may be asked for. ``is_finite``: whether an array of the caller's was, at the call that
    this is made for.
    """

    steps: list[Step]
    results: list[tuple[str, Node]]
    library: str = "torch"
    overwrites: bool = False
    gradients: bool = True
    is_finite: Callable[[str], bool] = lambda name: False
    memory: list[frozenset[Any] | None] = field(default_factory=list)

    def has_loops(self) -> bool:
        """Whether loops stay, outside of others."""
        return any(isinstance(step, For | Forever) for step in self.steps)


def next_serial() -> int:
    """A number after those of all nodes and steps that there are."""
    return next(_serial)


def anew(node: Node, **changes: Any) -> Node:
    """A node of its own that is as another one but for changes, and reads what that reads as it was then."""
    return replace(node, **changes, serial=next_serial(), born=node.time)


def leaves_of(node: Node) -> list[Node]:
    """The values in a result, through tuples and lists that are written out."""
    return [leaf for arg in node.args for leaf in leaves_of(arg)] if node.op == "display" else [node]


def merge_axes(*groups: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The union in canonical order; the ancestors of a ragged axis are implied by it."""
    found = {axis for group in groups for axis in group}
    for axis in list(found):
        found -= set(ancestors(axis))
    return tuple(sorted(found, key=lambda axis: axis.order))


def ancestors(axis: Axis):
    """The axes whose positions an entry of a ragged axis has, nearest first."""
    for parent in axis.parents:
        yield parent
        yield from ancestors(parent)


def operands_of(step: Step) -> list[Node]:
    match step:
        case Check(cond=cond) | LeaveUnless(cond=cond):
            return [cond]
        case Write(operands=operands, node=node):
            return [node, *operands]
        case Assign(node=node) | Push(node=node):
            return [node]
        case Choose(cond=cond, then=then, orelse=orelse):
            return [cond, *(n for inner in (*then, *orelse) for n in operands_of(inner))]
        case Run(operands=operands):
            return list(operands)
        case Effect(operands=operands):
            return list(operands)
        case For(bounds=bounds, body=body):
            return [*bounds, *(n for inner in body for n in operands_of(inner))]
        case Forever(body=body):
            return [n for inner in body for n in operands_of(inner)]
    raise AssertionError(step)


def every_place(steps: list[Step]) -> Iterator[tuple[list[Step], Step]]:
    """Steps with those inside of them, each with the list that it stands in."""
    for step in steps:
        yield steps, step
        if isinstance(step, For | Forever):
            yield from every_place(step.body)
        elif isinstance(step, Choose):
            yield from every_place(step.then)
            yield from every_place(step.orelse)


def every_step(steps: list[Step]) -> Iterator[Step]:
    """Steps with those inside of them."""
    return (step for _, step in every_place(steps))


def changed_by(steps: list[Step]) -> set[str]:
    """The names of what steps write to or bind."""
    changed: set[str] = set()
    for step in steps:
        match step:
            case Write(array=array):
                changed.add(array)
            case Run(outputs=outputs, stored=stored):
                changed.update(outputs, stored)
            case Assign(name=name):
                changed.update(name.split(","))
            case Push(name=name):
                changed.add(name)
            case Choose(then=then, orelse=orelse):
                changed |= changed_by(then) | changed_by(orelse)
            case For(name=name, body=body):
                changed |= {name} | changed_by(body)
            case Forever(body=body):
                changed |= changed_by(body)
    return changed


def reachable(roots: list[Node]) -> list[Node]:
    """All nodes that the roots are made of, in order of creation."""
    seen: dict[int, Node] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node.serial in seen:
            continue
        seen[node.serial] = node
        pending += parts_of(node)
    return [seen[key] for key in sorted(seen)]


def parts_of(node: Node) -> list[Node]:
    """What a value and the positions of its axes are made of."""
    axes = (*node.axes, node.attrs["axis"]) if node.op == "first" else node.axes  # where lanes begin on another axis
    return [*node.args, *(part for axis in axes for part in axis_nodes(axis))]


def nodes_of(program: Program) -> list[Node]:
    """All nodes of a program."""
    return reachable([n for step in program.steps for n in operands_of(step)] + [node for _, node in program.results])


def axis_nodes(axis: Axis) -> list[Node]:
    """What the positions of an axis are made of."""
    return [axis.extent, axis.lo, *(node for node in (axis.lengths, axis.members) if node is not None)]


PIECES = ("pieces", "terms")
"""Attributes that mention operands again."""


def attributes_with(attrs: dict[str, Any], done: Mapping[int, Node]) -> dict[str, Any]:
    """Attributes in which the pieces of subscripts have the operands that stand for others, by their serials."""
    renewed = {key: _renewed(value, done) for key, value in attrs.items() if key in PIECES}
    return attrs | renewed if renewed else attrs


def _renewed(value: Any, done: Mapping[int, Node]) -> Any:
    if isinstance(value, Node):
        return done.get(value.serial, value)
    if isinstance(value, list | tuple):
        return type(value)(_renewed(item, done) for item in value)
    if isinstance(value, dict):
        return {key: _renewed(item, done) for key, item in value.items()}
    if isinstance(value, Axis | type):
        return value
    inner = {name: getattr(value, name) for name in fields_of(value)}
    new = {name: done.get(item.serial, item) for name, item in inner.items() if isinstance(item, Node)}
    changed = {name: item for name, item in new.items() if item is not inner[name]}
    return replace(value, **changed) if changed else value


READS = frozenset(("slice", "gather", "stencil", "tiles", "permuted", "relabel", "unsqueezed"))


def array_read(node: Node) -> Node | None:
    """The tensor of the caller whose elements a value is, and nothing else; None where it is not."""
    while node.op in READS:
        node = node.args[0]
    plain = node.op == "name" and not node.axes and not node.attrs.get("memory") and not node.attrs.get("local")
    return node if plain and node.kind.family == "tensor" else None


def labels_compared(node: Node) -> tuple[Node, Node] | None:
    """Integers that each lane compares with its own position, and that position; None for anything else."""
    if node.op != "elementwise" or node.attrs["name"] not in ("eq", "torch.eq", "method.eq") or len(node.args) != 2:
        return None
    for labels, index in (node.args, node.args[::-1]):
        plain = not labels.axes and labels.kind.family == "tensor" and labels.kind.rank > 0
        if plain and str(labels.kind.dtype) == "torch.int64" and index.op == "index":
            axis: Axis = index.attrs["axis"]
            if not axis.is_ragged and axis.step == 1:
                return labels, index
    return None
