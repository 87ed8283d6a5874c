"""What a loop over pieces appends to a list in, one tensor for all pieces out, into which each of them is put."""

from __future__ import annotations

from looplift.ir.array import Assign, Node
from looplift.ir.grammar import Loop, Range, constant
from looplift.vectorize import nodes
from looplift.vectorize.axes import extent_between
from looplift.vectorize.context import Context


def put(context: Context, hint: str, piece: Node, strip: Loop) -> Node:
    """The tensor of all items, whose pieces this loop makes one after the other."""
    inner, domain = context.strips[strip], strip.domain
    assert isinstance(domain, Range) and isinstance(inner.domain, Range) and strip.index is not None
    lo, hi, stride = context.node(domain.lo), context.node(domain.hi), constant(inner.domain.step)
    place = nodes.minus(context.node(strip.index), lo)
    if stride != 1:
        place = nodes.elementwise("floordiv", [place, nodes.const(stride)], nodes.INT, bits=62)
    name = context.fresh_name(hint)
    whole = Node("name", (), (), piece.kind, {"text": name, "local": True}, name)
    context.steps[-2].append(Assign(name, nodes.const(None)))
    context.add(Assign(name, Node("put", (whole, piece, place, extent_between(lo, hi, stride)), (), piece.kind)))
    again = Node("name", (), (), piece.kind, {"text": name, "local": True}, name)
    return Node("pieces", (again,), (), piece.kind, {"extents": [None, *piece.attrs["extents"][1:]]}, hint)
