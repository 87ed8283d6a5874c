"""Modules with several arguments or results, called on one sample each: recurrent cells and bilinear forms."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Op, Operand, Var, as_atom
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import dims_of, lane_kind, relabelled
from looplift.vectorize.subscripts import extent_of


def called(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """``cell(x, h)`` and ``cell(x, (h, c))`` of all samples at once."""
    callee = op.args[0]
    assert isinstance(callee, Const)
    forms = [_parts(context, operand) for operand in op.args[1:]]
    args = tuple(node for nodes_of, _ in forms for node in nodes_of)
    ranks = {arg.kind.rank if arg.kind.is_array else 0 for arg in args}
    if op.kwargs or ranks not in ({1}, {2}):
        kind = type(callee.value).__name__
        message = f"'{callee.path}' ({kind}) is called on something else than vectors, or than matrices"
        raise context.refuse("unknown-op", message)
    axes = merge_axes(*(arg.axes for arg in args))
    attrs = {"path": callee.path, "groups": [len(nodes_of) if grouped else 0 for nodes_of, grouped in forms]}
    if ranks == {2}:
        count = _rows(context, args)
        args, attrs = (*args, count), {**attrs, "rows": True, "extents": [count, None]}
    node = Node("cell", args, axes, fact.kind, attrs, var.hint)
    if fact.kind.family != "tuple":
        return Val(node)
    node.hint = f"{var.hint}_cell"
    items = [
        Node("part", (node,), axes, kind, {"position": position, "extents": attrs.get("extents")}, var.hint)
        for position, kind in enumerate(fact.kind.items)
    ]
    return Val(Node("display", tuple(items), axes, fact.kind, {"kind": "tuple"}), items=list(map(Val, items)))


def of_entries(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """The same of matrices of another number of rows in each lane: each row is a sample."""
    callee = op.args[0]
    assert isinstance(callee, Const)
    shapes = [dims_of(context.lookup(as_atom(one))) for one in op.args[1:] if not isinstance(one, Group)]
    axis = shapes[0][0] if shapes else None
    plain = all(len(dims) == 2 and dims[0] is not None and dims[1] is None for dims in shapes)
    if op.kwargs or axis is None or not plain or fact.kind.family == "tuple" or len(shapes) + 1 < len(op.args):
        message = f"'{callee.path}' is called on something else than rows, of another number in each iteration"
        raise context.refuse("ragged-shape", message)
    vals = [context.lookup(as_atom(one)) for one in op.args[1:]]
    args = tuple(relabelled(context, val.node, list(dims_of(val)), dims_of(val)[0], axis) for val in vals)
    if any(arg.axes != (axis,) for arg in args):
        raise context.refuse("ragged-shape", f"'{callee.path}' is called on values of several loops")
    kind = lane_kind(context, fact, (axis, None))
    node = Node("cell", args, (axis,), kind, {"path": callee.path, "groups": [0] * len(args)}, var.hint)
    return Val(node, dims=(axis, None))


def _rows(context: Context, args: tuple[Node, ...]) -> Node:
    """How many samples each lane has, which is the same for all arguments."""
    first, *rest = (extent_of(arg, 0) for arg in args)
    for count in rest:
        if not nodes.same_integer(first, count):
            context.check_at_most(first, count)
            context.check_at_most(count, first)
    return first


def _parts(context: Context, operand: Operand) -> tuple[list[Node], bool]:
    """The nodes of an argument, and whether it is a tuple of them."""
    if isinstance(operand, Group):
        return [node for item in operand.items for node in _parts(context, item)[0]], True
    assert isinstance(operand, Const | Var)
    val = context.val(operand)
    if val.items is not None:
        return [item.node for item in val.items], True
    return [val.node], False
