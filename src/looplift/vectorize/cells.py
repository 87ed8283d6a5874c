"""Modules with several arguments or results, called on one sample each: recurrent cells and bilinear forms."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Op, Operand, Var
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import extent_of

ROWS = frozenset(("GRUCell", "RNNCell", "LSTMCell", "Bilinear"))
"""Modules whose arguments are vectors of one sample, or matrices with a row for each sample."""


def takes_rows(op: Op) -> bool:
    callee = op.args[0]
    return isinstance(callee, Const) and type(callee.value).__name__ in ROWS


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
