"""The axis that a range becomes: dense, a triangle of a larger one, or ragged."""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.grammar import Atom, Range
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Context, index_node
from looplift.vectorize.nodes import Affine, Val


def axis_of(context: Context, domain: Range, name: str, *, runs: bool = False) -> tuple[Axis, Node | None, Val]:
    """The axis of a range, a mask for bounds that move with an outer axis (a triangle), and what the range counts.

    ``runs``: it is known to have an iteration.
    """
    step = context.node(domain.step)
    stride = nodes.constant_of(step)
    if stride is None or stride == 0:
        raise context.refuse("unsupported-iterable", "a range whose step is not a constant")
    lo, hi = _bound(context, domain.lo), _bound(context, domain.hi)
    if lo is None or hi is None:
        axis, numbers = _ragged_axis(context, domain, name, stride)
        return axis, None, numbers
    first, last, mask_lo, mask_hi = lo.base, hi.base, bool(lo.terms), bool(hi.terms)
    if (mask_lo or mask_hi) and stride != 1:
        raise context.refuse("unsupported-iterable", "a range with a step and a bound that moves with an outer loop")
    context.is_triangular |= mask_lo or mask_hi
    first = _extreme_value(context, lo, low=True) if mask_lo else first
    last = _extreme_value(context, hi, low=False) if mask_hi else last
    extent = extent_between(first, last, stride)
    if not runs:
        context.check_at_most(nodes.const(1), extent)
    axis = Axis(name, next_order(context), extent, first, stride)
    if stride == 1 and nodes.is_const(first, 0):
        axis.below = context.node(domain.hi).attrs.get("longest of")
    numbers = Val(index_node(axis), Affine(((axis, 1),), nodes.const(0)))
    return axis, _triangle(axis, lo if mask_lo else None, hi if mask_hi else None), numbers


def _bound(context: Context, atom: Atom) -> Affine | None:
    """A bound of a range as an affine form; a 0-dim tensor that is the same in all lanes is read as a number."""
    node = context.node(atom)
    if (found := context.affine(atom)) is not None or node.axes:
        return found
    if not node.kind.is_array or node.kind.rank or "int" not in str(node.kind.dtype):
        raise context.refuse("unsupported-iterable", "a bound of a range that is no integer")
    attrs = {"name": "builtin.int", "kwargs": [], "positional": 1}
    return Affine((), Node("apply", (node,), (), nodes.INT, attrs))


def next_order(context: Context) -> int:
    """The place of an axis among those of the region, in the order in which they are made."""
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


def extent_between(first: Node, last: Node, stride: int) -> Node:
    """How many numbers a range has, if any."""
    if stride == 1:
        return nodes.minus(last, first)
    if stride == -1:
        return nodes.minus(first, last)
    key = f"#{first.serial},{last.serial},{stride}"
    return Node("count", (first, last, nodes.const(stride)), (), nodes.INT, {"key": key})


def _triangle(axis: Axis, lo: Affine | None, hi: Affine | None) -> Node | None:
    from looplift.vectorize.context import node_of

    mask = None
    position = index_node(axis)
    if lo is not None:
        mask = nodes.compare("ge", position, node_of(lo))
    if hi is not None:
        mask = nodes.both(mask, nodes.compare("lt", position, node_of(hi)))
    return mask


def _ragged_axis(context: Context, domain: Range, name: str, step: int) -> tuple[Axis, Val]:
    """A range whose length differs by lane: flat over all entries, with the lane of each, and the range's numbers."""
    if step < 1:
        raise context.refuse("ragged-shape", "a range that counts down, of another length in each iteration")
    lo, hi = segments.lane_integer(context, domain.lo), segments.lane_integer(context, domain.hi)
    lengths = hi if nodes.is_const(lo, 0) else nodes.elementwise("sub", [hi, lo], nodes.INT)
    if step > 1:
        lengths = nodes.elementwise("add", [lengths, nodes.const(step - 1)], nodes.INT)
        lengths = nodes.elementwise("floordiv", [lengths, nodes.const(step)], nodes.INT)
    if lengths.op != "lengths" and not lengths.attrs.get("is_length"):
        lengths = nodes.elementwise("clamp_min", [lengths, nodes.const(0)], nodes.INT)
    parents = segments.lane_axes(context, lengths.axes)
    if context.mask is not None and not _is_laid_out(context, lengths, parents):
        lengths = nodes.select(context.mask, lengths, nodes.const(0), nodes.INT)
        parents = segments.lane_axes(context, merge_axes(parents, context.mask.axes))
    lengths.attrs["bits"] = 40
    extent = Node("total", (segments.spread(lengths, parents),), (), nodes.INT, {"key": f"#{lengths.serial}.total"})
    context.check_at_most(nodes.const(1), extent)
    axis = Axis(name, next_order(context), extent, nodes.const(0), 1, parents, lengths)
    return axis, _numbers(axis, lo, step)


def _is_laid_out(context: Context, lengths: Node, parents: tuple[Axis, ...]) -> bool:
    """Whether something has as many entries in all lanes already: a loop that stays, which lanes leave at different
    times, then finds the same entries in each of its iterations."""
    if not context.serial_loops or context.mask is None or merge_axes(parents, context.mask.axes) != parents:
        return False
    known = segments.axis_of_lengths(context, lengths)
    return known is not None and known.parents == parents


def _numbers(axis: Axis, lo: Node, step: int) -> Val:
    """What the range counts."""
    position = index_node(axis)
    if nodes.is_const(lo, 0) and step == 1:
        return Val(position, Affine(((axis, 1),), nodes.const(0)))
    if step > 1:
        position = nodes.elementwise("mul", [position, nodes.const(step)], nodes.INT)
    if nodes.is_const(lo, 0):
        return Val(position)
    return Val(nodes.elementwise("add", [position, lo], nodes.INT))
