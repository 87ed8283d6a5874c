"""Calls of the user's own operators: one call for all lanes, of those lanes that come by."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Op, Operand, Var
from looplift.ops.names import callable_of, said
from looplift.vectorize.context import Context
from looplift.vectorize.mapped import several
from looplift.vectorize.nodes import Val


def called(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """The operator takes dimensions in front as so many calls, and ``where`` for those that are made.

    Nobody knows what its C++ does with arguments that the loop would not give it: where no lane comes by, it is not
    called, and where none of its arguments differs, it is called under the condition of the loop.
    """
    operator: Any = callable_of(op.name)
    if any(key == "where" for key, _ in op.kwargs):
        raise context.refuse("unknown-op", f"'{said(op.name)}' with 'where' in a loop; an 'if' has a batched form")
    given = operator.ordered(op.args, dict(op.kwargs))
    args = [_argument(context, op, operand) for operand in given]
    ranks = [len(one.dims) if hasattr(one, "dims") else 0 for one in operator.signature.parameters]
    own = max([0, *(node.kind.rank - rank for node, rank in zip(args, ranks, strict=True) if node.kind.is_array)])
    for node, parameter in zip(args, operator.signature.parameters, strict=True):
        if getattr(parameter, "is_size", False) and node.axes:
            sentence = f"'{parameter.name}' of '{said(op.name)}' tells a size, and differs by iteration"
            raise context.refuse("unknown-op", sentence)
    masked = context.mask is not None
    if context.mask is not None:
        args.append(context.mask)
        ranks.append(0)
    attrs = {"name": op.name, "ranks": [rank + own for rank in ranks], "masked": masked}
    node = Node("custom", tuple(args), merge_axes(*(arg.axes for arg in args)), fact.kind, attrs, var.hint)
    return several(node, fact) if isinstance(fact.sample, tuple) else Val(node)


def _argument(context: Context, op: Op, operand: Operand) -> Node:
    if not isinstance(operand, Var | Const):
        raise context.refuse("unknown-op", f"'{said(op.name)}' of what is no array and no number")
    node = context.node(operand)
    if not (node.kind.is_array or node.kind.is_number):
        raise context.refuse("unknown-op", f"'{said(op.name)}' of a {node.kind.family}")
    return node
