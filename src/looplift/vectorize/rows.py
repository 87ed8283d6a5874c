"""Lists of a list of lists, one in each lane, in; their lengths, items and entries out.

near[i][k], near[j][0]      flat[first[j] + k], of all lists one after the other
for j in near[i]            the flat entries themselves, where all lists are gone through
torch.tensor(near[i])       a value with a ragged dimension
near[i] + [i], near[i][:3]  the same of the entries of both, or of those in the slice
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass
from looplift.ir.array import Axis, Node
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Const, Group, Op, Operand, Slice, Var
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Gather, Whole

MAKERS = frozenset("torch.tensor torch.as_tensor np.array np.asarray".split())
TYPES = {"int": ("int64", "float32", "float64"), "float": ("float32", "float64"), "bool": ("bool", "int64")}
"""Of arrays that are made of lists, whatever their numbers are."""


def row(context: Context, owner: Node, index: Operand, element: Kind, sample: Any) -> Val:
    """``owner[index]``: the list of each lane, at the loop's own position or at any other place."""
    _check_no_gradients(context, element, sample)
    form = context.affine(index) if isinstance(index, Var | Const) else None
    if form is not None and len(form.terms) == 1 and nodes.is_const(form.base, 0):
        ((axis, coefficient),) = form.terms
        if coefficient == axis.step == 1 and nodes.is_const(axis.lo, 0) and not axis.is_ragged:
            return Val(owner, sequence=Row(owner, element.items, axis=axis))
    at, count = segments.lane_integer(context, index), nodes.length_of(owner)
    context.check(nodes.compare("lt", at, count))  # also where nothing reads the list
    context.check(nodes.compare("ge", at, nodes.minus(nodes.const(0), count)))
    return Val(owner, sequence=Row(owner, element.items, at=at))


def _check_no_gradients(context: Context, element: Kind, sample: Any) -> None:
    """Which of the tensors in lists of lists a loop reads is not followed: some may get no gradient."""
    if context.needs_grad and any(kind.family == "tensor" for kind in element.items):
        if any(item.requires_grad for one in sample for item in one if hasattr(item, "requires_grad")):
            raise context.refuse("ragged-shape", "lists of lists of tensors that ask for gradients")


def fits(context: Context, listed: Listed, array: Kind) -> bool:
    """Whether an array of NumPy's takes the numbers of a list as it takes those of an array that is made of it."""
    numbers = listed.kind(context).family
    return array.family == "array" and str(array.dtype) in TYPES.get(numbers, ())


class Listed:
    """A list of numbers in each lane, whose length differs by lane."""

    kinds: tuple[Kind, ...]

    @property
    def is_steady(self) -> bool:
        """Whether its length is made alike in all lanes, those included that do not run."""
        return True

    def measured(self, context: Context) -> Node:
        raise NotImplementedError

    def taken(self, context: Context, at: Node) -> Node:
        """The items at places that are counted from the start, and inside."""
        raise NotImplementedError

    def entries(self, context: Context, axis: Axis) -> Node | None:
        """All items, where they lie side by side as they are."""
        return None

    def length(self, context: Context) -> Node:
        known = self.__dict__.setdefault("lengths", {})
        key = None if self.is_steady or context.mask is None else context.mask.serial
        if key not in known:
            known[key] = self.measured(context)
        return known[key]

    def kind(self, context: Context) -> Kind:
        if len(self.kinds) != 1 or not self.kinds[0].is_number:
            listed = f" of {self.kinds[0].family}s" if self.kinds else ""
            raise context.refuse("ragged-shape", f"lists of lists{listed}")
        return self.kinds[0]

    def item_kind(self, context: Context) -> Kind:
        """The kind of what is read at one place."""
        return self.kind(context)

    def item(self, context: Context, index: Operand, fact: Fact) -> Val:
        if isinstance(index, Slice):
            self.kind(context)
            return cut(context, self, index)
        if isinstance(self, Row) and {kind.family for kind in self.kinds} == {"list"}:
            return self.inner(context, index)
        self.item_kind(context)
        form = context.affine(index) if isinstance(index, Var | Const) else None
        length, inside = self.length(context), False
        if form is not None and len(form.terms) == 1 and nodes.is_const(form.base, 0):
            ((along, coefficient),) = form.terms
            if coefficient == 1 and along.lengths is length and (whole := self.entries(context, along)) is not None:
                return Val(whole)
            inside = coefficient == 1 and along.lengths is not None and _are_lengths(along.lengths, length)
        at = segments.lane_integer(context, index)
        return Val(self.taken(context, at if inside else segments.counted_from_start(context, at, length)))

    def value(self, context: Context) -> Val:
        """The list as an array of its numbers, of another length in each lane."""
        from looplift.vectorize.lists import lane_dtype

        kind, length = self.kind(context), self.length(context)
        axis, index = segments.slice_axis(context, None, None, length, "k")
        node = self.entries(context, axis) if axis.lengths is length else None
        if node is None:
            with context.unmasked():
                node = self.taken(context, index)
        return Val(nodes.cast(node, lane_dtype(context, kind)), dims=(axis,))


@dataclass(eq=False)
class Row(Listed):
    """One list of a list of lists. ``axis``: whose position is that of the list; else ``at`` is its place."""

    owner: Node
    kinds: tuple[Kind, ...]
    axis: Axis | None = None
    at: Node | None = None

    @property
    def is_steady(self) -> bool:
        return self.at is None

    @property
    def sized(self) -> Node:
        """The list of lists whose lengths are looked at."""
        return self.owner.attrs.get("sizes of", self.owner)

    def _once(self, context: Context, name: str, of: Node, make: Callable[[], Node]) -> Node:
        """What is made of a list of lists, its lengths alone or its items, and of the place of one of them."""
        place = self.axis if self.at is None else nodes.structure_key(self.at)
        mask = None if self.is_steady or context.mask is None else context.mask.serial
        key = (name, nodes.key_of(of), place, mask)
        if key not in context.ragged_axes:
            context.ragged_axes[key] = make()
        return context.ragged_axes[key]

    def measured(self, context: Context) -> Node:
        if self.axis is None:
            return self._once(context, "row length", self.sized, lambda: self._looked_up(context, self._sizes(context)))
        context.check(nodes.compare("eq", self.axis.extent, self._count()), f"rows{nodes.key_of(self.sized)}")
        made = Node("lengths", (self.sized,), (self.axis,), nodes.INT, {"bits": 40}, "lengths")
        return self._once(context, "row length", self.sized, lambda: made)

    def _count(self) -> Node:
        return nodes.length_of(self.sized)

    def _sizes(self, context: Context) -> Node:
        """The lengths of all lists."""
        attrs = {"bits": 40, "extents": [self._count()]}
        return Node("lengths", (self.sized,), (), integers(context), attrs, "lengths")

    def _looked_up(self, context: Context, table: Node) -> Node:
        """What a vector over all lists holds for that of the lane."""
        if self.axis is None:
            assert self.at is not None
            return read_table(context, table, self.at, nodes.INT)
        with context.unmasked():
            return read_table(context, table, segments.index_of(self.axis), nodes.INT)

    def item_kind(self, context: Context) -> Kind:
        """Also of tensors, if they ask for no gradient: the lists are read, and stay as they are."""
        if {kind.family for kind in self.kinds} != {"tensor"} or len(self.kinds) != 1 or context.library != "torch":
            return self.kind(context)
        return self.kinds[0]

    def entries(self, context: Context, axis: Axis) -> Node | None:
        if self.axis is None or axis.parents != (self.axis,):
            return None
        return self._flat(context, (axis,), self.item_kind(context))

    def _flat(self, context: Context, axes: tuple[Axis, ...], kind: Kind) -> Node:
        attrs = {"of": self.item_kind(context).family} | ({"bits": 62} if self.item_kind(context).is_number else {})
        return Node("entries", (self.owner,), axes, kind, attrs, f"{self.owner.hint}_flat")

    def inner(self, context: Context, index: Operand) -> Val:
        """One of the lists in the list of each lane: one of those in all of them, one after the other."""
        if len(self.kinds) != 1 or len(self.kinds[0].items) > 1:
            raise context.refuse("ragged-shape", "lists of lists of lists of different kinds")
        place = segments.counted_from_start(context, segments.lane_integer(context, index), self.length(context))
        first = self._once(context, "row first", self.sized, lambda: self._first(context))
        lists = Node("chained", (self.owner,), (), Kind("list"), {}, "lists")
        flat = self._once(context, "row lists", self.owner, lambda: lists)
        at = nodes.elementwise("add", [first, place], nodes.INT)
        return Val(flat, sequence=Row(flat, self.kinds[0].items, at=at))

    def taken(self, context: Context, at: Node) -> Node:
        from looplift.vectorize.lists import packed_kind

        kind = self.item_kind(context)
        first = self._once(context, "row first", self.sized, lambda: self._first(context))
        flat = self._flat(context, (), packed_kind(context, kind))
        return read_table(context, flat, nodes.elementwise("add", [first, at], nodes.INT), kind)

    def _first(self, context: Context) -> Node:
        """Where the list of each lane begins among the entries of all."""
        sizes = self._sizes(context)
        attrs = {"name": "cumsum", "dim": -1, "extents": sizes.attrs["extents"]}
        ends = Node("along_dim", (sizes,), (), sizes.kind, attrs)
        return self._looked_up(context, nodes.elementwise("sub", [ends, sizes], sizes.kind))


def read_table(context: Context, table: Node, place: Node, kind: Kind) -> Node:
    """Numbers of a vector that all lanes share, or tensors of a stack."""
    from looplift.vectorize.indexing import read_pieces

    pieces = [Gather(place), *(Whole() for _ in range(table.kind.rank - 1))]
    found = read_pieces(context, table, pieces, Kind(table.kind.family, table.kind.dtype, table.kind.rank - 1))
    if kind.is_array:
        return found
    return Node("retype", (found,), found.axes, kind, {"bits": table.attrs.get("bits", 62)})


@dataclass(eq=False)
class Part(Listed):
    """A slice of a list."""

    whole: Listed
    start: Node
    stop: Node
    kinds: tuple[Kind, ...]

    @property
    def is_steady(self) -> bool:
        return self.whole.is_steady

    def measured(self, context: Context) -> Node:
        if nodes.is_const(self.start, 0):
            return self.stop
        gap = nodes.elementwise("sub", [self.stop, self.start], nodes.INT)
        made = nodes.elementwise("clamp_min", [gap, nodes.const(0)], nodes.INT)
        made.attrs.update(is_length=True, bits=40)
        return made

    def taken(self, context: Context, at: Node) -> Node:
        return self.whole.taken(context, _sum(self.start, at))


@dataclass(eq=False)
class Plain(Listed):
    """A list that all lanes share."""

    node: Node
    kinds: tuple[Kind, ...]

    def measured(self, context: Context) -> Node:
        return nodes.length_of(self.node)

    def taken(self, context: Context, at: Node) -> Node:
        from looplift.vectorize.lists import pack

        return read_table(context, pack(context, self.node, self.kind(context)), at, self.kind(context))


def cut(context: Context, whole: Listed, item: Slice) -> Val:
    """``near[i][:3]``, ``flat[start[i]:start[i + 1]]``."""
    if not (isinstance(item.step, Const) and item.step.value in (None, 1)):
        raise context.refuse("ragged-shape", "a list is sliced with a step inside the loop")
    length = whole.length(context)
    lo, hi = (
        None if isinstance(p, Const) and p.value is None else segments.lane_integer(context, p)
        for p in (item.lo, item.hi)
    )
    start = nodes.const(0) if lo is None else segments.bound(context, lo, length, "start")
    stop = length if hi is None else segments.bound(context, hi, length, "stop")
    if not start.axes and not stop.axes:
        raise context.refuse("unsupported-value", "a list is sliced inside the loop")
    return Val(nodes.const(None), sequence=Part(whole, start, stop, whole.kinds))


def _sum(a: Node, b: Node) -> Node:
    """Of integers, in lanes or not."""
    if not a.axes and not b.axes:
        return nodes.plus(a, b)
    return b if nodes.is_const(a, 0) else nodes.elementwise("add", [a, b], nodes.INT)


@dataclass(eq=False)
class Joined(Listed):
    """``near[i] + [i]``: lists, and numbers among them."""

    parts: list[Listed | Node]
    kinds: tuple[Kind, ...]

    @property
    def is_steady(self) -> bool:
        return all(part.is_steady for part in self.parts if isinstance(part, Listed))

    def measured(self, context: Context) -> Node:
        made = self._sizes(context)
        total = made[0]
        for size in made[1:]:
            total = _sum(total, size)
        total.attrs.update(is_length=True, bits=40)
        return total

    def _sizes(self, context: Context) -> list[Node]:
        """How many items come from each part."""
        return [part.length(context) if isinstance(part, Listed) else nodes.const(1) for part in self.parts]

    def taken(self, context: Context, at: Node) -> Node:
        kind, start = self.kind(context), nodes.const(0)
        found: list[tuple[Node, Node]] = []
        for part, size in zip(self.parts, self._sizes(context), strict=True):
            end = _sum(start, size)
            here = nodes.compare("lt", at, end)
            if found:
                here = nodes.both(nodes.compare("ge", at, start), here)
            node = part
            if isinstance(part, Listed):
                with context.masked(here):
                    node = part.taken(context, nodes.elementwise("sub", [at, start], nodes.INT) if found else at)
            assert isinstance(node, Node) and here is not None
            found.append((node, here))
            start = end
        made, _ = found.pop()
        for node, here in reversed(found):
            made = nodes.select(here, node, made, kind)
        return made


def added(context: Context, op: Op) -> Val | None:
    """``near[i] + [i]``, None for anything else."""
    if op.name != "add" or op.kwargs:
        return None
    parts: list[Listed | Node] = []
    for operand in op.args:
        val = context.lookup(operand) if isinstance(operand, Var) else None
        if val is not None and isinstance(val.sequence, Listed):
            parts.append(val.sequence)
        elif val is not None and val.items is not None and val.node.kind.family == "list":
            parts += [item.node for item in val.items]
        else:
            return None
    kinds = {kind for part in parts for kind in (part.kinds if isinstance(part, Listed) else (part.kind,))}
    if not any(isinstance(part, Listed) for part in parts):
        return None
    if len(kinds) != 1 or not next(iter(kinds)).is_number:
        raise context.refuse("mixed-kinds", "lists of different kinds of values are joined")
    return Val(nodes.const(None), sequence=Joined(parts, tuple(kinds)))


def _are_lengths(lengths: Node, length: Node) -> bool:
    """Whether these are the lengths, and zero in lanes that do not run."""
    return lengths is length or (
        lengths.op == "where" and lengths.args[1] is length and nodes.is_const(lengths.args[2], 0)
    )


def integers(context: Context) -> Kind:
    if context.library == "np":
        import numpy as np

        return Kind("array", np.dtype("int64"), 1)
    return Kind("tensor", nodes.lane_dtype(nodes.INT), 1)


# ---------------------------------------------------------------- arrays of them


def value_of(context: Context, operand: Operand) -> Val | None:
    """A list of each lane as an array, or what is one and has another length in each; None for anything else."""
    val = context.lookup(operand) if isinstance(operand, Var) else None
    if val is None:
        return None
    if isinstance(val.sequence, Listed):
        return val.sequence.value(context)
    return val if val.dims is not None else None


def made(context: Context, op: Op, fact: Fact, var: Var) -> Val | None:
    """``near[i] + [i]``, ``torch.tensor(near[i])`` and the like; None for anything else."""
    if (joined := added(context, op)) is not None:
        return joined
    owner = context.vals.get(op.args[0]) if op.args and isinstance(op.args[0], Var) else None
    if op.name not in MAKERS or owner is None or not isinstance(owner.sequence, Listed):
        return None
    given, listed = dict(op.kwargs), owner.sequence
    chosen = given.pop("dtype", None) is not None
    wanted = str(fact.kind.dtype).removeprefix("torch.")
    if given or len(op.args) > 1 or wanted not in TYPES.get(listed.kind(context).family, ()):
        raise context.refuse("ragged-shape", f"'{op.name}' of a list of another length in each iteration, in this form")
    if not chosen and listed.kind(context).family != "float":  # of nothing comes an array of floats
        context.check(nodes.compare("ge", listed.length(context), nodes.const(1)))
    val = listed.value(context)
    node = val.node
    if wanted == "float32" and "int" in str(node.kind.dtype):  # numbers of Python's become doubles first
        node = nodes.cast(node, _double(context))
    node = nodes.cast(node, fact.kind.dtype)
    node.hint = node.hint or var.hint
    return Val(node, dims=val.dims)


def _double(context: Context):
    if context.library == "np":
        import numpy as np

        return np.dtype("float64")
    import torch

    return torch.float64


def has_row_subscript(context: Context, op: Op) -> bool:
    """Whether a value is subscripted by a list that differs by lane, or by an array of another length in each."""
    if op.name != "getitem":
        return False
    items = op.args[1].items if isinstance(op.args[1], Group) else (op.args[1],)
    vals = [context.lookup(item) for item in items if isinstance(item, Var)]
    return any(isinstance(val.sequence, Listed) for val in vals)
