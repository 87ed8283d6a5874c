"""Items, attributes and lengths of values in lanes; tuples and lists written out."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, anew, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Operand, Slice, Var, as_atom, atoms, constant
from looplift.vectorize import nodes, records, rows, shapes
from looplift.vectorize.context import Context, node_of
from looplift.vectorize.indexing import read
from looplift.vectorize.nodes import Affine, Val
from looplift.vectorize.subscripts import extent_of
from looplift.vectorize.uniform import operand_node, uniform


def structure(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    match op.name:
        case "copy":
            return context.val(as_atom(op.args[0]))
        case "tuple" | "list":
            return _display(context, op, fact, var)
        case "tuple_or_none":
            return _display_or_none(context, op, fact)
        case "dict":
            return _table(context, op, fact)
        case "zipped" | "zipped_lists" | "zipped_dicts":
            return records.zipped(context, op, fact)
        case "mapping":
            return records.mapping(context, op, fact)
        case "unpack":
            return _item(context, as_atom(op.args[0]), constant(op.args[1]), fact, op)
        case "attribute":
            return _attribute(context, op, fact, var)
        case "iter_len" | "builtin.len":
            return _length(context, op)
    return _getitem(context, op, fact, var)


def _display(context: Context, op: Op, fact: Fact, var: Var | None = None) -> Val:
    items = [Val(_group(context, item)) if isinstance(item, Group) else context.val(as_atom(item)) for item in op.args]
    axes = merge_axes(*(item.node.axes for item in items))
    own = {"own": var} if op.name == "list" and var is not None and _is_held(context, var) else {}
    node = Node("display", tuple(item.node for item in items), axes, fact.kind, {"kind": op.name} | own)
    return Val(node, items=items)


def _group(context: Context, group: Group) -> Node:
    node = operand_node(context, group)
    return anew(node, attrs=node.attrs | {"own": id(group)}) if group.kind == "list" else node


def _is_held(context: Context, var: Var) -> bool:
    """Whether a list may be an item of another one, or share its items with it: two lists are two objects."""
    users = [user for user in context.flow.users.get(var, ()) if isinstance(user, Let)]
    return any(context.facts.kind(user.var).family in ("list", "tuple", "dict", "object") for user in users)


def _display_or_none(context: Context, op: Op, fact: Fact) -> Val:
    """A tuple of numbers, where there is one."""
    there, *items = map(as_atom, op.args)
    made = _display(context, Op("tuple", tuple(items)), fact)
    if made.node.axes or not all(item.node.kind.is_number for item in made.items or ()):
        raise context.refuse("mixed-kinds", "a tuple that may be None holds something else than numbers")
    return Val(Node("display_or_none", (context.node(there), made.node), (), fact.kind))


def _table(context: Context, op: Op, fact: Fact) -> Val:
    """A dict: its keys are constants, its values as in a list."""
    keys = [constant(key) for key in atoms(op.args[0])]
    made = _display(context, Op("list", op.args[1:]), fact)
    made.node.attrs.update(kind="dict", keys=keys)
    return made


def _item(context: Context, owner: Atom, position: int, fact: Fact, op: Op) -> Val:
    val = context.val(owner)
    if val.items is not None:
        return val.items[position]
    if val.sequence is not None:
        return _built_item(context, val, position, fact, op)
    kind = val.node.kind
    if kind.family == "tensor" or kind.family == "array":
        count = context.facts[owner].shape[0]
        if len(op.args) == 3 and constant(op.args[2]) != count:
            raise context.refuse("requirement", "the number of values does not fit")
        extent = extent_of(val.node, 0)
        context.check(nodes.compare("eq", extent, nodes.const(count)), f"={nodes.key_of(extent)}:{count}")
        return read(context, val.node, Const(position), fact.kind)
    if val.node.axes:
        raise context.refuse("unknown-op", "an item of a value that differs by iteration")
    attrs = {"name": "getitem", "kwargs": [], "positional": 2}
    return Val(Node("apply", (val.node, nodes.const(position)), (), fact.kind, attrs))


def _built_item(context: Context, val: Val, position: int, fact: Fact, op: Op) -> Val:
    """One of the items of a list that is unpacked."""
    length = val.sequence.length(context)
    context.check(nodes.compare("eq", length, nodes.const(constant(op.args[2]))))
    return val.sequence.item(context, Const(position), fact)


def _attribute(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    owner, name = context.node(as_atom(op.args[0])), constant(op.args[1])
    val = context.val(as_atom(op.args[0]))
    if val.items is not None and name in val.extra.get("names", ()):
        return val.items[val.extra["names"][name]]
    if name == "size" and owner.kind.family == "array":
        return _count_of_elements(owner)
    if name == "shape" and owner.kind.is_array:
        return _shape(owner, fact)
    if name in ("dtype", "device", "ndim", "is_cuda"):
        if name == "ndim":
            return Val(nodes.const(owner.kind.rank))
        return Val(Node("attribute", (owner,), (), fact.kind, {"name": name}))
    if name in ("real", "imag") and owner.kind.family in ("array", "numpy") and owner.axes:
        return Val(nodes.elementwise(f"np.{name}", [owner], fact.kind))
    if name in ("real", "imag") and owner.axes and "complex" in str(owner.kind.dtype):
        return Val(nodes.elementwise(f"torch.{name}", [owner], fact.kind))
    if name in ("T", "mT") and owner.kind.is_array:
        if (turned := shapes.shape_operation(context, name, [owner], [], {}, fact)) is None:
            raise context.refuse("unknown-op", f"'.{name}' of {owner.kind.rank} dimensions")
        return Val(turned)
    if not owner.axes:
        return Val(Node("attribute", (owner,), (), fact.kind, {"name": name}, var.hint))
    raise context.refuse("unknown-op", f"the attribute '.{name}' of a value that differs by iteration")


def size_of(context: Context, op: Op, fact: Fact) -> Val | None:
    """``x.size()``, ``x.size(0)``, ``x.numel()``, ``x.dim()`` of a tensor; None for anything else."""
    owner = context.node(as_atom(op.args[0])) if isinstance(op.args[0], Var) else None
    if owner is None or owner.kind.family != "tensor" or op.kwargs:
        return None
    match op.name, op.args[1:]:
        case "method.dim", ():
            return Val(nodes.const(owner.kind.rank))
        case "method.numel" | "method.nelement", ():
            return _count_of_elements(owner)
        case "method.size", ():
            return _shape(owner, fact)
        case "method.size", (Const(value=int(dim)),) if -owner.kind.rank <= dim < owner.kind.rank:
            return Val(extent_of(owner, dim % owner.kind.rank))
    return None


def _shape(owner: Node, fact: Fact) -> Val:
    items = [Val(extent_of(owner, dim)) for dim in range(owner.kind.rank)]
    return Val(Node("display", tuple(i.node for i in items), (), fact.kind, {"kind": "tuple"}), items=items)


def _count_of_elements(owner: Node) -> Val:
    count: Node | None = None
    for dim in range(owner.kind.rank):
        extent = extent_of(owner, dim)
        count = extent if count is None else nodes.elementwise("mul", [count, extent], nodes.INT)
    return Val(count or nodes.const(1))


def _length(context: Context, op: Op) -> Val:
    val = context.val(as_atom(op.args[0]))
    if val.items is not None:
        return Val(nodes.const(len(val.items)))
    if val.node.kind.is_array:
        return Val(extent_of(val.node, 0))
    if val.sequence is not None:
        return Val(val.sequence.length(context))
    if val.node.axes:
        raise context.refuse("ragged-shape", "the length of a list that differs by iteration")
    return Val(nodes.length_of(val.node))


def _getitem(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    owner, index = op.args
    val = context.val(as_atom(owner))
    if val.sequence is not None:
        return val.sequence.item(context, index, fact)
    if val.items is not None:
        return _displayed_item(context, val.items, index, fact)
    if val.node.kind.is_array:
        form = read(context, val.node, index, fact.kind)
        if isinstance(owner, Var) and context.is_overwritten(owner):
            return Val(Node("method", (form.node,), form.node.axes, fact.kind, {"name": "clone"}, var.hint))
        form.node.hint = var.hint
        return form
    if isinstance(index, Slice) and val.node.kind.family == "list":
        return rows.cut(context, rows.Plain(val.node, context.facts[as_atom(owner)].kind.items), index)
    if not val.node.axes and not any(context.node(a).axes for a in _index_atoms(index)):
        made = uniform(context, op, fact, var)
        if val.node.kind.family in ("list", "tuple") and fact.kind.is_number and isinstance(index, Var):
            context.check(Node("is_of_type", (made,), (), nodes.BOOL, {"type": fact.kind.family}))
        return Val(made)
    from looplift.vectorize.lists import packed

    return packed(context, as_atom(owner), val, index, fact)


def _index_atoms(index: Operand):
    return list(atoms(index))


def _evenly_spaced(values: list[Any], form: Affine) -> Affine | None:
    """``(-1, 0, 1)``, all of it walked by one axis, is a sum of positions."""
    if len(values) < 2 or type(values[0]) is not int or len(form.terms) != 1 or not nodes.is_const(form.base, 0):
        return None
    ((axis, coefficient),) = form.terms
    whole = nodes.is_const(axis.lo, 0) and axis.step == coefficient == 1 and nodes.is_const(axis.extent, len(values))
    step = values[1] - values[0]
    even = all(value == values[0] + k * step for k, value in enumerate(values))
    return Affine(((axis, step),), nodes.const(values[0])) if whole and even and step else None


def _known_places(index: Operand, length: int) -> range | None:
    """The places of a slice whose bounds are constants; None of any other subscript."""
    if not isinstance(index, Slice):
        return None
    bounds = [bound.value for bound in (index.lo, index.hi, index.step) if isinstance(bound, Const)]
    if len(bounds) != 3 or any(type(bound) is not int and bound is not None for bound in bounds) or bounds[2] == 0:
        return None
    return range(length)[slice(*bounds)]


def _displayed_item(context: Context, items: list[Val], index: Operand, fact: Fact) -> Val:
    """An item of a list display: known by a constant, else one of a small table; or the items of a part of it."""
    if isinstance(fact.sample, tuple) and (places := _known_places(index, len(items))) is not None:
        chosen = [items[place] for place in places]
        axes = merge_axes(*(item.node.axes for item in chosen))
        display = Node("display", tuple(item.node for item in chosen), axes, fact.kind, {"kind": "tuple"})
        return Val(display, items=chosen)
    form = context.affine(index) if isinstance(index, Var | Const) else None
    position = nodes.constant_of(form.base) if form is not None and not form.terms else None
    if position is not None and -len(items) <= position < len(items):
        return items[position]
    if all(item.node.op == "const" and item.node.kind.is_number for item in items) and form is not None:
        values = [item.node.attrs["value"] for item in items]
        if len({type(v) for v in values}) != 1:
            raise context.refuse("mixed-kinds", "a tuple of different kinds of numbers")
        if (even := _evenly_spaced(values, form)) is not None:
            return Val(node_of(even), even)
        kind = Kind("array" if context.library == "np" else "tensor", nodes.lane_dtype(fact.kind), 1)
        table_node = Node("vector", (), (), kind, {"values": values, "extents": [nodes.const(len(values))]})
        got = read(context, table_node, index, Kind(kind.family, kind.dtype, 0)).node
        if not got.axes:
            return Val(Node("apply", (got,), (), fact.kind, {"name": "method.item", "kwargs": [], "positional": 1}))
        return Val(Node("retype", (got,), got.axes, fact.kind))
    raise context.refuse("unsupported-value", "a list is read at a place that differs by iteration")
