"""The shape of one lane's value, as far as it is known before the call: nodes in, integers of the program out."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.arrays import creation_extents
from looplift.vectorize.context import Context
from looplift.vectorize.subscripts import extent_of

Extents = list[Node | None]
SAME_SHAPE = frozenset(("elementwise", "where", "cast", "retype", "reduce", "along_dim", "last", "relabel", "total",
                        "moved", "extreme_in_order"))  # fmt: skip


def lane_extents(context: Context, node: Node) -> Extents:
    """One integer for each dimension of a lane's value; None where it is not known."""
    rank = node.kind.rank if node.kind.is_array else 0
    given = node.attrs.get("extents")
    if given is not None and len(given) == rank and None not in given:
        return list(given)
    if node.op == "name" and not node.axes:
        return [extent_of(node, dim) for dim in range(rank)]
    if node.op == "apply":
        return list(creation_extents(node, (None,) * rank))
    if node.op == "matmul":
        return _of_product(context, *node.args)
    if node.op in SAME_SHAPE:
        return broadcast_extents(context, [arg for arg in node.args if arg.kind.is_array], rank)
    return list(given) if given is not None and len(given) == rank else [None] * rank


def broadcast_extents(context: Context, sides: list[Node], rank: int) -> Extents:
    """Those of lanes' values that are broadcast against one another."""
    every = [lane_extents(context, side) for side in sides]
    return [_joined(context, [side[dim - rank] for side in every if len(side) >= rank - dim]) for dim in range(rank)]


def _of_product(context: Context, a: Node, b: Node) -> Extents:
    left, right = lane_extents(context, a), lane_extents(context, b)
    return left[:-1] + right[-1:] * (len(right) > 1)


def _joined(context: Context, extents: Extents) -> Node | None:
    """The extent that operands broadcast to, if they have it in common."""
    wide = [extent for extent in extents if extent is None or not nodes.is_const(extent, 1)]
    if not wide:
        return extents[0] if extents else None
    first = wide[0]
    if first is None or not all(extent is not None and agree(context, first, extent) for extent in wide[1:]):
        return None
    return first


def agree(context: Context, a: Node, b: Node) -> bool:
    """Whether two extents are the same integer; a guard makes them so where they are at this call."""
    if nodes.same_integer(a, b):
        return True
    if (pair := nodes.equal_samples(nodes.minus(a, b))) is not None:
        context.wanted_equal.add(pair)
    return False
