"""Modules of the network called on values of another length in each lane: each entry is a sample."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.facts import Fact
from looplift.ir.grammar import Op, as_atom
from looplift.vectorize.context import Context
from looplift.vectorize.network import module_of_rows
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import dims_of, lane_kind, made_of


def through_module(context: Context, op: Op, fact: Fact) -> Val | None:
    """A module that takes each entry as a sample; None for others."""
    x = context.lookup(as_atom(op.args[1]))
    dims = dims_of(x)
    dense = next((k for k, axis in enumerate(reversed(dims)) if axis is not None), len(dims))
    node = module_of_rows(context, op, x.node, len(dims), dense, fact)
    if node is None:
        return None
    return made_of(node, (*dims[: len(dims) - dense], *(None,) * (fact.kind.rank - len(dims) + dense)))


def linear(context: Context, name: str, args: list[Val], fact: Fact) -> Val:
    """``linear(x, weight, bias)`` with a weight that all lanes share."""
    dims = dims_of(args[0])
    if dims[-1] is not None or any(arg.dims is not None for arg in args[1:]):
        raise context.refuse("ragged-shape", "'linear' of a dimension of another length in each iteration")
    operands = tuple(arg.node for arg in args)
    kind = lane_kind(context, fact, dims)
    return made_of(Node("leading", operands, operands[0].axes, kind, {"name": name}), dims)
