"""The range of a loop that stays: one for all lanes, or that of the longest, with where each lane goes on."""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.array import Node
from looplift.ir.grammar import UNDEFINED, Loop, Range, constant
from looplift.vectorize import nodes
from looplift.vectorize.axes import extent_between
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


@dataclass(frozen=True)
class Walk:
    """The range of a loop that stays: the bounds of the longest lane, and where lanes have iterations of their own."""

    bounds: tuple[Node, Node, Node]
    start: Node | None = None
    limit: Node | None = None
    """The number of iterations of each lane; None where all have the same."""
    stride: int = 1

    def index(self, count: Node) -> Val:
        """The loop's index: the name that is counted, or each lane's own."""
        if self.limit is not None:
            count.attrs["below"] = self.limit
        if self.start is None:
            return Val(count)
        sign = "add" if self.stride == 1 else "sub"
        return Val(nodes.elementwise(sign, [self.start, count], nodes.INT, bits=41))

    def going(self, count: Node) -> Node | None:
        """Where a lane has an iteration of this number."""
        if self.limit is None:
            return None
        return nodes.compare("lt", count, self.limit)


def walk_of(context: Context, loop: Loop) -> Walk:
    """The iterations of each lane; those of different lengths are counted from 0."""
    domain = loop.domain
    assert isinstance(domain, Range)
    lo, hi, step = context.node(domain.lo), context.node(domain.hi), context.node(domain.step)
    if not any(bound.axes for bound in (lo, hi, step)):
        return Walk((lo, hi, step))
    stride = nodes.constant_of(step)
    if stride not in (1, -1):
        raise context.refuse("ragged-shape", "a range with a step that has another length in each lane")
    counts = stride == 1 and nodes.is_const(lo, 0)
    limit = hi if counts else nodes.elementwise("sub", [hi, lo] if stride == 1 else [lo, hi], nodes.INT, bits=42)
    if context.mask is not None:
        limit = nodes.select(context.mask, limit, nodes.const(0), nodes.INT)
    if any(carry.init is UNDEFINED for carry in loop.carries):
        context.check(nodes.compare("ge", limit, nodes.const(1)))
    longest = Node("reduce", (limit,), (), nodes.INT, {"axes": limit.axes, "operator": "max", "bits": 42}, "longest")
    start = None if counts else lo
    return Walk((nodes.const(0), longest, nodes.const(1)), start, limit, stride)


def count_of(loop: Loop, bounds: tuple[Node, Node, Node], piece: Loop | None) -> Node:
    """The number of iterations; of a loop over pieces that of the iterations in all of them."""
    if piece is not None and isinstance(piece.domain, Range):
        return extent_between(bounds[0], bounds[1], constant(piece.domain.step))
    if all(bound.op == "const" for bound in bounds):
        return nodes.const(len(range(*(bound.attrs["value"] for bound in bounds))))
    return Node("count", bounds, (), nodes.INT, {"key": f"#{id(loop)}"})
