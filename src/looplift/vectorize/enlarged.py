"""A change in place in, a check out where it might have to enlarge what it changes: ``a += row`` raises there."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.extents import lane_extents
from looplift.vectorize.subscripts import extent_of


def check_size(context: Context, target: Node, value: Node) -> None:
    """What takes part in a change in place has the sizes of what is changed, or is repeated along them."""
    if not (target.kind.is_array and value.kind.is_array):
        return
    for back in range(1, min(target.kind.rank, value.kind.rank) + 1):
        own, given = (_extent(context, one, one.kind.rank - back) for one in (target, value))
        if nodes.is_const(given, 1) or nodes.same_integer(own, given):
            continue
        alike = [nodes.compare("eq", given, nodes.const(1)), nodes.compare("eq", given, own)]
        context.check(nodes.elementwise("or_", alike, nodes.BOOL), f"{nodes.key_of(given)} in {nodes.key_of(own)}")


def _extent(context: Context, node: Node, dim: int) -> Node:
    found = lane_extents(context, node)
    known = found[dim] if len(found) > dim else None
    return known if known is not None else extent_of(node, dim)
