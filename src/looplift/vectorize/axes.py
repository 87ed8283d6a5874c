"""The axis that a range becomes: dense, a triangle of a larger one, or ragged."""

from __future__ import annotations

from looplift.ir.array import Axis, Node
from looplift.ir.grammar import Const, Range
from looplift.vectorize import nodes
from looplift.vectorize.context import Context, index_node
from looplift.vectorize.nodes import Affine


def axis_of(context: Context, domain: Range, name: str) -> tuple[Axis, Node | None]:
    """The axis of a range, and a mask for bounds that move with an outer axis (a triangle)."""
    step = context.node(domain.step)
    stride = nodes.constant_of(step)
    if stride in (None, 0):
        raise context.refuse("unsupported-iterable", "a range whose step is not a constant")
    lo, hi = context.affine(domain.lo), context.affine(domain.hi)
    if lo is None or hi is None:
        return _ragged_axis(context, domain, name), None
    first, last, mask_lo, mask_hi = lo.base, hi.base, bool(lo.terms), bool(hi.terms)
    if (mask_lo or mask_hi) and stride != 1:
        raise context.refuse("unsupported-iterable", "a range with a step and a bound that moves with an outer loop")
    first = _extreme_value(context, lo, low=True) if mask_lo else first
    last = _extreme_value(context, hi, low=False) if mask_hi else last
    extent = _extent(first, last, stride)
    context.check_at_most(nodes.const(1), extent)
    axis = Axis(name, _order(context), extent, first, stride)
    return axis, _triangle(axis, lo if mask_lo else None, hi if mask_hi else None)


def _order(context: Context) -> int:
    context.depth += 1
    return context.depth


def _extreme_value(context: Context, form: Affine, low: bool) -> Node:
    """The least or greatest value of a bound over the axes that it moves with."""
    value = form.base
    for axis, coefficient in form.terms:
        if axis.is_ragged:
            raise context.refuse("ragged-shape", "a range whose bound moves with a ragged loop")
        first = axis.lo
        last = nodes.plus(axis.lo, nodes.times(nodes.minus(axis.extent, nodes.const(1)), axis.step))
        least = (coefficient * axis.step > 0) == low
        value = nodes.plus(value, nodes.times(first if least else last, coefficient))
    return value


def _extent(first: Node, last: Node, stride: int) -> Node:
    if stride == 1:
        return nodes.minus(last, first)
    if stride == -1:
        return nodes.minus(first, last)
    return Node("count", (first, last, nodes.const(stride)), (), nodes.INT, {"key": f"#{id(first)}{id(last)}{stride}"})


def _triangle(axis: Axis, lo: Affine | None, hi: Affine | None) -> Node | None:
    from looplift.vectorize.context import node_of

    mask = None
    position = index_node(axis)
    if lo is not None:
        mask = nodes.compare("ge", position, node_of(lo))
    if hi is not None:
        mask = nodes.both(mask, nodes.compare("lt", position, node_of(hi)))
    return mask


def _ragged_axis(context: Context, domain: Range, name: str) -> Axis:
    """A range whose length differs by lane: flat over all entries, with the parent's index for each."""
    lengths = context.node(domain.hi)
    if not (isinstance(domain.lo, Const) and domain.lo.value == 0) or lengths.kind.family != "int":
        raise context.refuse("ragged-shape", "a range whose start differs from lane to lane")
    if len(lengths.axes) != 1 or context.mask is not None:
        raise context.refuse("ragged-shape", "a ragged loop under an 'if' or inside several loops")
    parent = lengths.axes[0]
    if lengths.op != "lengths":
        lengths = nodes.elementwise("clamp_min", [lengths, nodes.const(0)], nodes.INT)
    extent = Node("total", (lengths,), (), nodes.INT, {"key": f"#{lengths.serial}.total"})
    context.check_at_most(nodes.const(1), extent)
    return Axis(name, _order(context), extent, nodes.const(0), 1, (parent,), lengths)
