"""Lists: those of the caller are packed into arrays, those that the loop appends to get one more dimension."""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.ir.array import Assign, Axis, Node, Push, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Append, Atom, Const, Loop, Op, Operand, Slice, Store, Var
from looplift.ops.table import base_name
from looplift.vectorize import (
    alone,
    doubts,
    grown,
    held,
    lane_lists,
    nodes,
    ragged_lists,
    reached,
    rows,
    segments,
    strip_lists,
    unbounded,
    views,
)
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.sheltered import sheltered


def array_family(context: Context) -> str:
    return "array" if context.library == "np" else "tensor"


def packed_kind(context: Context, element: Kind) -> Kind:
    """The kind of an array that holds a list's elements."""
    return Kind(array_family(context), lane_dtype(context, element), element.rank + 1)


def lane_dtype(context: Context, element: Kind):
    """The dtype of an array that holds such values."""
    if element.is_array:
        return element.dtype
    if context.library == "np":
        import numpy as np

        if element.family == "complex":
            raise context.refuse("unsupported-value", "complex numbers of Python's, which NumPy rounds otherwise")
        return np.dtype({"int": "int64", "float": "float64", "bool": "bool"}[element.family])
    return nodes.lane_dtype(element)


def packed(context: Context, owner: Atom, val: Val, index: Operand, fact: Fact) -> Val:
    """``items[index]`` of a list of the caller, at a place that differs by iteration."""
    kind, hint = context.facts[owner].kind, getattr(owner, "hint", owner)
    if kind.family not in ("list", "tuple") or val.node.axes:
        raise context.refuse("unsupported-value", f"'{hint}' is read at a place that differs by iteration")
    elements = set(kind.items)
    if len(elements) != 1:
        raise context.refuse("mixed-kinds", f"the items of '{hint}' are of different kinds")
    (element,) = elements
    if element.family == "list":
        return rows.row(context, val.node, index, element, context.facts[owner].sample)
    if not (element.is_number or element.family in ("tensor", "array")):
        raise context.refuse("unsupported-value", f"a list of {element.family}s")
    from looplift.vectorize.indexing import read

    sample = context.facts[owner].sample
    differing = ragged_lists.differing_dimensions(sample) if element.is_array else []
    if len(differing) > 1 and not (differing == [0, 1] and element.rank == 2 and not _asks(context, sample)):
        raise context.refuse("ragged-shape", f"the items of '{hint}' differ in several dimensions")
    if differing:
        lane = _row_axis(context, index)
        if lane is None:
            return ragged_lists.item_of_another_length(context, val.node, sample, index, element, differing)
        return ragged_lists.items_of_different_lengths(context, val.node, sample, lane, element, differing)
    whole = pack(context, val.node, element)
    if element.is_array and not all(hasattr(item, "shape") for item in sample):
        raise context.refuse("mixed-kinds", f"the items of '{hint}' are of different kinds")
    if alone.may_ask(context, element):
        if any(item.requires_grad for item in sample):
            _check_all_read(context, val.node, index)
            alone.noted(context, whole, sample)
        else:
            alone.check_asks_for_none(context, whole)
    unbounded.check_items(context, whole)
    got = read(context, whole, index, _lane_kind(context, element)).node
    if element.is_number:
        got = Node("retype", (got,), got.axes, element)
    return Val(got)


def _asks(context: Context, sample: Any) -> bool:
    """Whether a gradient may flow to items of a list."""
    return context.needs_grad and any(getattr(item, "requires_grad", False) for item in sample)


def _check_all_read(context: Context, node: Node, index: Operand) -> None:
    """Tensors of a list that the loop does not read get no gradient: the loop must read all of them."""
    form = context.affine(index) if isinstance(index, Var | Const) else None
    whole = form is not None and len(form.terms) == 1 and form.terms[0][1] == 1 and nodes.is_const(form.base, 0)
    axis = form.terms[0][0] if form is not None and whole else None
    length = nodes.length_of(node)
    if axis is None or axis.is_ragged or axis.step != 1 or not nodes.is_const(axis.lo, 0):
        places = None if context.mask is not None or isinstance(index, Slice) else segments.lane_integer(context, index)
        if places is None or not places.axes:
            raise context.refuse("unsupported-value", "a list of tensors with gradients is read in another order")
        context.check(Node("all_read", (places, length), (), nodes.BOOL))
        return
    if not nodes.same_integer(axis.extent, length):
        context.check(nodes.compare("eq", axis.extent, length))


def _lane_kind(context: Context, element: Kind) -> Kind:
    return element if element.is_array else Kind(array_family(context), lane_dtype(context, element), 0)


def pack(context: Context, node: Node, element: Kind) -> Node:
    kind = packed_kind(context, element)
    length = nodes.length_of(node)
    extents = [length] + [None] * element.rank
    return Node("pack", (node,), (), kind, {"element": element, "extents": extents}, f"{node.hint}_packed")


def _row_axis(context: Context, index: Operand) -> Axis | None:
    """The axis whose position in the list an index is; None for another place."""
    form = context.affine(index) if isinstance(index, Var | Const) else None
    if form is None or len(form.terms) != 1 or not nodes.is_const(form.base, 0):
        return None
    ((axis, coefficient),) = form.terms
    own = coefficient == axis.step == 1 and nodes.is_const(axis.lo, 0) and not axis.is_ragged
    return axis if own else None


@dataclass
class Built:
    """A list that the region makes: what was appended, in which axes, under which mask."""

    var: Var
    axes: tuple[Axis, ...]
    element: Kind | None = None
    entries: list[tuple[Node, tuple[Axis, ...], Node | None]] = field(default_factory=list)
    ragged: Val | None = None
    outside: Node | None = None
    """The mask under which the list was made."""
    depth: int = 0
    """How many loops that stay it was made in."""
    pieces: Node | None = None
    """The items, where loops over pieces fill the list."""
    row: Built | None = None
    """The list that each of its items is, if they are lists of one length."""
    differs: bool = False
    """Whether it has another length in each lane that makes one."""
    beside: list[Node] = field(default_factory=list)
    """What each iteration appends, if that is more than one item."""
    begun: list[Node] = field(default_factory=list)
    """What each lane appends before a loop that stays makes the list longer."""

    def append(self, context: Context, val: Val) -> None:
        value = val.node
        mask = None if context.mask is self.outside else context.mask
        around = context.serial_loops[self.depth :]
        if not all(loop in context.strips for loop in around):
            return grown.append(context, self, val, mask)
        inside = context.axes_inside(self.axes)
        if not inside and not around and self.axes and mask is None and not self.entries:
            return self._begin(context, val)
        if self.begun:
            raise context.refuse("order", f"'{self.var.hint}' is appended to at several places")
        if not inside:
            raise context.refuse("unsupported-value", f"'{self.var.hint}' is appended to outside of the loop as well")
        flat = merge_axes(inside)
        is_flat = not self.axes and len(flat) == 1 and flat[0].is_ragged and val.dims is None
        inside = flat if is_flat else inside
        if self.entries:
            return self._append_beside(context, val, inside, mask)
        ragged = any(axis.is_ragged for axis in inside) and not is_flat  # flat entries stand in the order of the list
        if ragged or (mask is not None and self.axes and not _is_shared(mask, inside)):
            lane_lists.check_appended(context, self, val, inside, mask)
            self.differs = True
        if value.kind.family in ("tuple", "list", "object", "string", "none"):
            raise context.refuse("unsupported-value", f"'{self.var.hint}' holds {value.kind.family}s")
        plain = not (self.differs or val.dims or isinstance(val.sequence, Built) or mask or self.axes)
        if around and not (plain and self._is_filled_by(context, around, inside)):
            raise context.refuse("ragged-shape", f"'{self.var.hint}' is filled piece by piece")
        if mask is not None:
            value = sheltered(context, value, mask)
        self.entries.append((value, inside, mask))
        if around:
            self._join_pieces(context, around[0])
        if isinstance(val.sequence, Built):
            self.row = val.sequence
        if mask is not None:
            context.check_taken(mask, value)
            doubts.check(context, value, mask)
        for axis in inside if context.needs_grad else ():
            doubts.check_entries(context, value, axis)
        if val.dims is not None:
            ragged_lists.check_pieces(context, val, inside, self.axes)
            self.ragged = val

    def _begin(self, context: Context, val: Val) -> None:
        kind = val.node.kind
        if val.dims or val.sequence or val.items or not (kind.is_array or kind.is_number):
            raise context.refuse("unsupported-value", f"'{self.var.hint}' holds {kind.family}s")
        self.begun.append(val.node)

    def _append_beside(self, context: Context, val: Val, inside: tuple[Axis, ...], mask: Node | None) -> None:
        """One more item in each iteration: one append of all of them, whose dimension is merged with the list's."""
        (first, axes, condition), *_ = self.entries
        first = self.beside[0] if self.beside else first
        plain = mask is None and condition is None and self.ragged is None and self.pieces is None and self.row is None
        if not plain or axes != inside or self.differs or val.dims is not None or val.sequence is not None:
            raise context.refuse("order", f"'{self.var.hint}' is appended to at several places")
        if val.node.kind != first.kind:
            raise context.refuse("mixed-kinds", f"the items of '{self.var.hint}' are of different kinds")
        self.beside = [*(self.beside or [first]), val.node]
        kind = packed_kind(context, first.kind)
        items = [_as_array(context, node) for node in self.beside]
        extents = [nodes.const(len(items)), *(first.attrs.get("extents") or [None] * first.kind.rank)]
        attrs = {"join": "stack", "dim": -kind.rank, "extents": extents}
        joined = Node("join", tuple(items), merge_axes(*(node.axes for node in items)), kind, attrs)
        self.entries = [(joined, inside, None)]

    def _is_filled_by(self, context: Context, strips: list[Loop], inside: tuple[Axis, ...]) -> bool:
        """Whether each piece appends the items of its iterations: in their order, and under no ``if``."""
        outermost = inside[0] is context.axis_of.get(context.strips[strips[0]])
        return outermost and len(strips) == 1 and len(context.steps) == context.before_pieces[-1] + 1

    def _join_pieces(self, context: Context, strip: Loop) -> None:
        """What was appended in loops over pieces: a list of arrays while they run, one array after them.

        Small tensors that stay while large ones come and go would keep the memory of these, so that tensors are put
        into one for all pieces at once, if no gradient flows.
        """
        piece = self._array(context)
        if context.library == "torch" and not context.needs_grad:
            self.pieces = strip_lists.put(context, self.var.hint, piece, strip)
            return
        name = context.fresh_name(f"{self.var.hint}_list")
        context.steps[-2].append(Assign(name, Node("empty_list", (), (), Kind("list"))))
        context.add(Push(name, piece))
        listed = Node("name", (), (), Kind("list"), {"text": name, "local": True}, name)
        extents = [None, *piece.attrs["extents"][1:]]
        self.pieces = Node("pieces", (listed,), (), piece.kind, {"extents": extents}, self.var.hint)

    def collected(self, context: Context) -> Node:
        """The list as an array whose first lane dimension counts its items."""
        if self.holds_differing:
            raise context.refuse("ragged-shape", f"'{self.var.hint}' holds lists of different lengths")
        if len(self.entries) != 1:
            raise context.refuse("unsupported-value", f"'{self.var.hint}' is used before the loop fills it")
        if self.differs:
            raise context.refuse("ragged-shape", f"'{self.var.hint}' has another length in each iteration")
        if set(self.entries[0][1]) & set(context.axes):
            raise context.refuse("carried", f"'{self.var.hint}' is read while the loop fills it")
        return self._array(context) if self.pieces is None else self.pieces

    def _array(self, context: Context) -> Node:
        """What was appended, with one more dimension."""
        value, inside, mask = self.entries[0]
        if self.ragged is not None:
            value = ragged_lists.of_one_length(context, self.ragged, inside)
        kind = packed_kind(context, value.kind)
        count = inside[0].extent if len(inside) == 1 and mask is None else None
        extents = [count] + list(value.attrs.get("extents") or [None] * value.kind.rank)
        args = (value, mask) if mask is not None else (value,)
        node = Node("collect", args, self.axes, kind, {"inside": inside, "extents": extents}, self.var.hint)
        if not self.beside:
            return node
        total = nodes.times(count, len(self.beside)) if count is not None else None
        return Node(
            "merged",
            (node,),
            self.axes,
            packed_kind(context, self.beside[0].kind),
            {"dim": 0, "extents": [total, *extents[2:]]},
            self.var.hint,
        )

    @property
    def holds_differing(self) -> bool:
        """Whether its items are lists, of another length each."""
        return self.row is not None and self.row.differs

    def length(self, context: Context) -> Node:
        if self.differs:
            return lane_lists.length(context, self)
        if self.ragged is not None:
            return ragged_lists.count(context, self.entries[0])
        node = self.collected(context)
        count = node.attrs["extents"][0]
        if count is not None:
            return count
        return Node("extent", (node,), (), nodes.INT, {"dim": len(self.axes), "key": f"#{node.serial}"})

    def item_kind(self, context: Context) -> Kind:
        if not self.entries:
            raise NotLiftable("carried", f"'{self.var.hint}' is read while the loop fills it", context.span)
        return self.beside[0].kind if self.beside else self.entries[0][0].kind

    def innermost(self, context: Context) -> Kind:
        """The kind of the items of its items' items."""
        return self.item_kind(context) if self.row is None else self.row.innermost(context)

    def check_alike(self, context: Context, *, is_each: bool = True) -> None:
        """Items that are read one by one, or handed out, depend on the same inputs: others give these no gradient."""
        if not context.needs_grad:
            return
        inputs = [(reached.leaves(node), reached.leaves(node, surely=True)) for node in self.beside]
        if any(one != inputs[0] for one in inputs):
            raise context.refuse("carried", f"an item of '{self.var.hint}' may get no gradient in the loop")
        for value, inside, mask in self.entries:
            if is_each:
                doubts.check_each(context, value, (*inside, *self.axes), mask)
            if self.pieces is not None:
                alone.check_pieces(context, value, self.pieces)
            else:
                alone.check(context, value, mask)

    def item(self, context: Context, index: Operand, fact: Fact) -> Val:
        from looplift.vectorize.indexing import read

        lacking: frozenset[int] = frozenset()
        if context.needs_grad:
            lacking = lacking.union(
                *(doubt[1] for one, _, _ in self.entries for doubt in doubts.found_in(context, one))
            )
        self.check_alike(context, is_each=not lacking)
        element = self.item_kind(context)
        if self.differs:
            return lane_lists.item(context, self, index, element)
        is_part = isinstance(index, Slice)
        kind = packed_kind(context, element) if is_part else _lane_kind(context, element)
        got = read(context, self.collected(context), index, kind).node
        doubts.record_moved(context, got, lacking)
        if is_part:
            return Val(nodes.const(None), sequence=Held(self.var, self.axes, element=element, node=got, row=self.row))
        if element.is_number:
            if got.axes:
                return Val(Node("retype", (got,), got.axes, element))
            return Val(Node("apply", (got,), (), element, {"name": "method.item", "kwargs": [], "positional": 1}))
        if self.row is not None:
            return Val(
                got, sequence=Held(self.row.var, (), element=self.row.item_kind(context), node=got, row=self.row.row)
            )
        return Val(got)


def _is_shared(mask: Node, inside: tuple[Axis, ...]) -> bool:
    """Whether a mask is the same in all lanes that make a list."""
    return set(mask.axes) <= set(inside)


def _as_array(context: Context, node: Node) -> Node:
    kind = node.kind
    return nodes.cast(node, lane_dtype(context, kind)) if kind.is_number else node


def as_row(context: Context, row: Built) -> Val:
    """A list that is an item of another one: an array in each lane."""
    if row.differs and row.axes and row.item_kind(context).family in ("int", "float", "bool"):
        kind = Kind(array_family(context), lane_dtype(context, row.item_kind(context)), 1)
        made = lane_lists.value(context, row, kind)
        return Val(made.node, dims=made.dims, sequence=row)
    if row.ragged is not None or row.differs or not row.entries or row.entries[0][2] is not None or not row.axes:
        raise context.refuse("ragged-shape", f"'{row.var.hint}', which is put into a list, may have any length")
    row.check_alike(context)
    return Val(row.collected(context), sequence=row)


@dataclass
class Held(Built):
    """A list that is carried by a loop that stays: an array under a name, of items of one kind."""

    node: Node | None = None

    def append(self, context: Context, val: Val) -> None:
        raise context.refuse("carried", f"'{self.var.hint}' is carried while it grows")

    def collected(self, context: Context) -> Node:
        assert self.node is not None
        return self.node

    def item_kind(self, context: Context) -> Kind:
        assert self.element is not None
        return self.element


@dataclass
class Continued(Built):
    """A list that begins with ``first`` items, which stand in front of those that loops append: it is handed out, or
    asked for its length."""

    first: list[Atom] = field(default_factory=list)
    rest: Built = field(default_factory=lambda: Built(Var(""), ()))

    def append(self, context: Context, val: Val) -> None:
        self.rest.append(context, val)
        if self.rest.differs:
            raise context.refuse("ragged-shape", f"'{self.var.hint}' begins with items, and grows in some iterations")

    def collected(self, context: Context) -> Node:
        raise context.refuse("order", f"'{self.var.hint}' begins with items, and is read as one array")

    def item_kind(self, context: Context) -> Kind:
        return self.collected(context).kind

    def length(self, context: Context) -> Node:
        return nodes.elementwise("add", [self.rest.length(context), nodes.const(len(self.first))], nodes.INT)


def continued(context: Context, var: Var, op: Op) -> Continued | None:
    """The list that a display makes outside of all loops and branches, where it only grows after that."""
    growing = [user for user in context.flow.users.get(var, ()) if isinstance(user, Append | Store) and user.ref is var]
    items = [item for item in op.args if isinstance(item, Var | Const)]
    inside = context.active_axes() or context.serial_loops or context.mask is not None
    if op.name != "list" or inside or len(items) < len(op.args) or not growing:
        return None
    if any(isinstance(user, Store) for user in growing):
        return None
    for item in items:
        kind, row = context.facts.kind(item), context.lookup(item).sequence
        if not (kind.is_number or kind.is_array) and (not isinstance(row, Built) or isinstance(row, Continued)):
            return None
        views.check_kept_value(context, var, item)
    return Continued(var, (), first=items, rest=Built(var, ()))


def backwards(context: Context, built: Built) -> Val:
    """``items[::-1]`` of a list that the region made."""
    built.check_alike(context)
    if built.differs and not built.holds_differing:
        element = built.item_kind(context)
        node, inside = lane_lists.turned(context, built, packed_kind(context, element))
        if element.is_number:
            node = Node("retype", (node,), node.axes, element)
        turned = Built(built.var, built.axes, built.element, outside=context.mask, differs=True)
        turned.entries.append((node, inside, None))
        return Val(nodes.const(None), sequence=turned)
    node = built.collected(context)
    if len(node.args) > 1 or built.ragged is not None:
        raise context.refuse("ragged-shape", f"'{built.var.hint}' may have any length, and is read backwards")
    attrs = {"name": "flip", "dim": -node.kind.rank, "extents": node.attrs.get("extents")}
    turned = Node("along_dim", (node,), node.axes, node.kind, attrs, built.var.hint)
    turned_list = Held(built.var, built.axes, element=built.item_kind(context), node=turned, row=built.row)
    return Val(nodes.const(None), sequence=turned_list)


JOINS = frozenset(
    """torch.stack torch.cat torch.concat torch.tensor np.stack np.array np.asarray np.vstack np.concatenate
    np.concat np.hstack np.column_stack torch.vstack torch.hstack torch.column_stack""".split()
)


CONCATENATIONS = ("torch.cat", "torch.concat", "np.concatenate", "np.concat")
_BY_RANK = ("vstack", "hstack", "column_stack")
"""What stacks vectors in one way and arrays of more dimensions in another."""


def joined(context: Context, op: Op, fact: Fact, var: Var) -> Val | None:
    """``torch.stack(items)`` and the like of a list that the region made."""
    if op.name not in JOINS or not op.args or not isinstance(op.args[0], Var):
        return None
    val = context.val(op.args[0])
    if not isinstance(val.sequence, Built):
        return None
    if val.sequence.ragged is not None and not val.sequence.holds_differing and op.name in CONCATENATIONS:
        entry = val.sequence.entries[0]
        return ragged_lists.concatenated(context, val.sequence.ragged, entry, _dimension(context, op), fact, var)
    if val.sequence.differs:
        return _of_differing(context, op, val.sequence, fact, var)
    node = val.sequence.collected(context)
    if len(node.args) > 1:
        count = val.sequence.length(context)
        context.check(nodes.compare("ge", count, nodes.const(1)))
    is_concatenated, dim = _form(context, op, node.kind.rank - 1)
    dtype = fact.kind.dtype
    if is_concatenated:
        node = _concatenated(context, node, dim)
    elif dim:
        rank = node.kind.rank
        order = [*range(1, rank)]
        order.insert(dim if dim >= 0 else rank + dim, 0)
        old = node.attrs.get("extents") or [None] * rank
        node = Node("permuted", (node,), node.axes, node.kind, {"order": order, "extents": [old[k] for k in order]})
    if node.kind.dtype != dtype:
        _check_numbers(context, val.sequence, dtype)
        kind = Kind(node.kind.family, dtype, node.kind.rank)
        node = Node("cast", (node,), node.axes, kind, {"dtype": dtype, "extents": node.attrs.get("extents")})
    if fact.kind.family != node.kind.family or fact.kind.rank != node.kind.rank:
        raise context.refuse("unsupported-value", f"'{op.name}' of this list")
    if op.name == "torch.tensor" and context.needs_grad and nodes.may_have_gradient(node.kind.dtype):
        node = Node("method", (node,), node.axes, node.kind, {"name": "detach", "extents": node.attrs.get("extents")})
    return Val(Node("owned", (node,), node.axes, node.kind, {"extents": node.attrs.get("extents")}, var.hint))


def _form(context: Context, op: Op, rank: int) -> tuple[bool, int]:
    """Whether items of a rank are joined along a dimension that they have, and which, or which they get."""
    dim = _dimension(context, op)
    match base_name(op.name):
        case "vstack":
            return rank > 1, 0
        case "hstack":
            return True, int(rank > 1)
        case "column_stack":
            return rank > 1, 1
    return op.name in CONCATENATIONS, dim


def _check_numbers(context: Context, built: Built, dtype) -> None:
    """Numbers in a list must be in the range of the type of the array that is made of it."""
    if built.row is not None:
        return _check_numbers(context, built.row, dtype)
    saved = context.mask
    for value, _, mask in built.entries:
        context.mask = nodes.both(built.outside, mask)
        for item in built.beside or [value]:
            held.check_number(context, item, dtype)
    context.mask = saved
    return None


def _of_differing(context: Context, op: Op, built: Built, fact: Fact, var: Var) -> Val:
    """An array of a list that has another length in each lane."""
    by_rank = op.name in CONCATENATIONS or base_name(op.name) in _BY_RANK
    if by_rank or _dimension(context, op) or not fact.kind.is_array:
        raise context.refuse("ragged-shape", f"'{op.name}' of '{var.hint}', of another length in each iteration")
    made = lane_lists.value(context, built, fact.kind)
    if op.name in ("torch.stack", "np.stack") or not _is_same_of_nothing(context, op, built, fact):
        lane_lists.check_not_empty(context, made)
    if made.node.kind.dtype != fact.kind.dtype:
        raise context.refuse("mixed-kinds", f"'{op.name}' of '{var.hint}' changes the type of its items")
    made.node.hint = made.node.hint or var.hint
    return made


def _is_same_of_nothing(context: Context, op: Op, built: Built, fact: Fact) -> bool:
    """Whether an array of no numbers has the type of an array of some: that of floats, if none is asked for."""
    import torch

    usual = "float64" if context.library == "np" else str(torch.get_default_dtype())
    return not built.item_kind(context).rank and ("dtype" in dict(op.kwargs) or str(fact.kind.dtype) == usual)


def _dimension(context: Context, op: Op) -> int:
    given = dict(op.kwargs)
    dim = given.pop("dim", given.pop("axis", op.args[1] if len(op.args) > 1 else Const(0)))
    given.pop("dtype", None)
    if given or len(op.args) > 2 or not isinstance(dim, Const) or not isinstance(dim.value, int):
        raise context.refuse("unknown-op", f"'{op.name}' with these arguments")
    return dim.value


def _concatenated(context: Context, node: Node, dim: int) -> Node:
    """``cat`` along ``dim`` puts the list's dimension just before it and merges the two."""
    rank = node.kind.rank - 1
    if rank == 0:
        raise context.refuse("requirement", "numbers cannot be concatenated")
    dim = dim % rank
    order = [*range(1, rank + 1)]
    order.insert(dim, 0)
    moved = Node("permuted", (node,), node.axes, node.kind, {"order": order})
    kind = Kind(node.kind.family, node.kind.dtype, rank)
    return Node("merged", (moved,), node.axes, kind, {"dim": dim})


def returned(context: Context, built: Built) -> Node:
    """The list as the caller gets it: numbers as numbers, tensors as tensors of their own."""
    if built.ragged is not None and not built.axes:
        value, inside, mask = built.entries[0]
        alone.check(context, value)
        if context.needs_grad:
            doubts.check_each(context, value, inside, mask)
        return ragged_lists.split(context, built.ragged, built.entries[0], built.var.hint, built.holds_differing)
    built.check_alike(context)
    node = built.collected(context)
    if built.axes or (built.row is not None and not built.innermost(context).is_number):
        raise context.refuse("unsupported-value", f"'{built.var.hint}' is a list of lists")
    element = built.innermost(context)
    return Node("listed", (_narrow(node, element),), (), Kind("list"), {"element": element}, built.var.hint)


def _narrow(node: Node, element: Kind) -> Node:
    """Numbers that are made Python's in the end need no wider type before."""
    if not element.is_number or node.op not in ("collect", "cast"):
        return node
    (inner, *rest) = node.args
    if node.op == "cast":
        widened = str(node.kind.dtype).endswith("float64") and inner.kind.is_array and "float" in str(inner.kind.dtype)
        return inner if element.family == "float" and widened else node
    if (made := _narrow(inner, element)) is inner:
        return node
    kind = Kind(node.kind.family, made.kind.dtype, node.kind.rank)
    return Node("collect", (made, *rest), node.axes, kind, node.attrs, node.hint)
