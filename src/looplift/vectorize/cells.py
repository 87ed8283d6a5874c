"""Modules with several arguments or results, called on one sample each: recurrent cells and bilinear forms."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Op, Operand, Var
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val

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
    if op.kwargs or any(arg.kind.rank != 1 or not arg.kind.is_array for arg in args):
        kind = type(callee.value).__name__
        raise context.refuse("unknown-op", f"'{callee.path}' ({kind}) is called on something else than vectors")
    axes = merge_axes(*(arg.axes for arg in args))
    groups = [len(nodes_of) if grouped else 0 for nodes_of, grouped in forms]
    node = Node("cell", args, axes, fact.kind, {"path": callee.path, "groups": groups}, var.hint)
    if fact.kind.family != "tuple":
        return Val(node)
    node.hint = f"{var.hint}_cell"
    items = [
        Node("part", (node,), axes, kind, {"position": position}, var.hint)
        for position, kind in enumerate(fact.kind.items)
    ]
    return Val(Node("display", tuple(items), axes, fact.kind, {"kind": "tuple"}), items=list(map(Val, items)))


def _parts(context: Context, operand: Operand) -> tuple[list[Node], bool]:
    """The nodes of an argument, and whether it is a tuple of them."""
    if isinstance(operand, Group):
        return [node for item in operand.items for node in _parts(context, item)[0]], True
    assert isinstance(operand, Const | Var)
    val = context.val(operand)
    if val.items is not None:
        return [item.node for item in val.items], True
    return [val.node], False
