"""Reads at sums of positions in, views of windows out; where a mask keeps places inside, zeros stand around the array.

x[i + k]                        x.unfold(0, K, 1)
x[i * s + k - p] inside of x    pad(x, (p, p)).unfold(0, K, s), zero where the mask does not hold
"""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.facts import Kind
from looplift.vectorize import linear, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.linear import Linear
from looplift.vectorize.subscripts import Along, Cut, Gather, Piece, Point, Whole, extent_of


@dataclass(frozen=True)
class Reach:
    """A dimension that is read at ``first + step * i (+ dilation * j)``, with the axes in this order."""

    dim: int
    form: Linear
    first: Node
    axes: tuple[Axis, ...]
    steps: tuple[Node, ...]
    turned: tuple[Axis, ...]
    """Axes along which the places go down; they are read upwards, and turned afterwards."""


@dataclass(frozen=True)
class Vanishing:
    """A read that is zero in lanes for which the mask does not hold, but for ``others`` of its conditions."""

    mask: Node
    others: list[Node]
    places: list[tuple[Node, Reach]]
    """The extent of each dimension that is read in windows, and how it is."""


def windows(context: Context, base: Node, pieces: list[Piece], kind: Kind) -> Node | None:
    """The read as views of windows, where that is known to read nothing outside of the array; else None."""
    if any(not isinstance(piece, Whole | Cut | Point | Along | Gather) for piece in pieces):
        return None
    if context.needs_grad and (base.attrs.get("memory") or any(a.node is base for a in context.arrays.values())):
        return None
    said = [] if context.mask is None else list(linear.conditions(context.mask))
    known = [form for form, _ in said if form is not None]
    found = [reach for dim, piece in enumerate(pieces) if (reach := _reach(context, base, dim, piece, known))]
    found = [reach for reach in found if _is_inside(context, base, reach, known)]
    axes = [axis for reach in found for axis in reach.axes]
    others = {axis for dim, piece in enumerate(pieces) if all(r.dim != dim for r in found) for axis in _axes(piece)}
    if not found or len(set(axes)) < len(axes) or set(axes) & (others | set(base.axes)):
        return None
    rest = [node for form, node in said if form is None or not _is_met(context, form, base, found)]
    return _made(context, base, pieces, found, kind, rest)


def _axes(piece: Piece) -> tuple[Axis, ...]:
    match piece:
        case Along(axis=axis):
            return (axis,)
        case Gather(index=index):
            return index.axes
    return ()


def _reach(context: Context, base: Node, dim: int, piece: Piece, known: list[Linear]) -> Reach | None:
    """A dimension that is read at a sum of positions, of one axis only where a mask speaks of it."""
    match piece:
        case Along(axis=axis, coefficient=coefficient, base=first):
            form: Linear | None = Linear({axis: nodes.const(coefficient)}, first)
        case Gather(index=index) if not index.kind.rank:
            form = linear.linear_of(index)
        case _:
            return None
    if form is None or not 1 <= len(form.terms) <= 2 or any(axis.is_ragged for axis in form.terms):
        return None
    if len(form.terms) == 1 and not any(_bounds(context, base, dim, form, said) for said in known):
        return None
    first, turned, steps = form.base, [], []
    axes = tuple(sorted(form.terms, key=lambda axis: axis.order))
    for axis in axes:
        step = form.terms[axis]
        if (value := nodes.constant_of(step)) is not None and value < 0:
            turned.append(axis)
            first = nodes.plus(first, nodes.times(nodes.minus(axis.extent, nodes.const(1)), value))
            step = nodes.const(-value)
        steps.append(step)
    return Reach(dim, form, first, axes, tuple(steps), tuple(turned))


def _bounds(context: Context, base: Node, dim: int, form: Linear, said: Linear) -> bool:
    """Whether a condition is one of the two bounds of a subscript."""
    return linear.same(said, form) or _is_room(context, base, dim, form, said)


def _is_room(context: Context, base: Node, dim: int, form: Linear, said: Linear) -> bool:
    """Whether a condition is the upper bound of a subscript; it may speak of another array's extent that is equal."""
    gap = linear.minus(said, _room(base, dim, form))
    if not gap.terms and (pair := nodes.equal_samples(gap.base)) is not None:
        context.wanted_equal.add(pair)
    return not gap.terms and nodes.is_const(gap.base, 0)


def _room(base: Node, dim: int, form: Linear) -> Linear:
    """How far a subscript is from the last place."""
    return linear.minus(Linear({}, nodes.minus(extent_of(base, dim), nodes.const(1))), form)


def _is_inside(context: Context, base: Node, reach: Reach, known: list[Linear]) -> bool:
    """Whether active lanes read inside: their mask says so, or it is so for all lanes, which is required."""
    low = any(linear.same(said, reach.form) for said in known)
    high = any(_is_room(context, base, reach.dim, reach.form, said) for said in known)
    last = _last(reach)
    bounds = [] if low else [(nodes.const(0), reach.first)]
    if not high:
        if last is None:
            return False
        bounds.append((nodes.plus(last, nodes.const(1)), extent_of(base, reach.dim)))
    if not all(nodes.is_likely_positive(nodes.minus(large, small)) for small, large in bounds):
        return False
    for small, large in bounds:
        context.check_at_most(small, large)
    return True


def _last(reach: Reach) -> Node | None:
    """The greatest subscript; None where steps are not known."""
    last = reach.first
    for axis, step in zip(reach.axes, reach.steps, strict=True):
        value = nodes.constant_of(step)
        if value is None:
            return None
        last = nodes.plus(last, nodes.times(nodes.minus(axis.extent, nodes.const(1)), value))
    return last


def _is_met(context: Context, form: Linear, base: Node, found: list[Reach]) -> bool:
    """Whether lanes for which a condition does not hold read a place outside, which is zero."""
    return any(_bounds(context, base, reach.dim, reach.form, form) for reach in found)


def _made(
    context: Context, base: Node, pieces: list[Piece], found: list[Reach], kind: Kind, others: list[Node]
) -> Node | None:
    """Dimensions that are read otherwise come first, then one window after the other."""
    from looplift.vectorize.indexing import read_pieces

    dims = {reach.dim for reach in found}
    if any(not isinstance(piece, Whole) for dim, piece in enumerate(pieces) if dim not in dims):
        rest: list[Piece] = [Whole() if dim in dims else piece for dim, piece in enumerate(pieces)]
        left = [dim for dim, piece in enumerate(rest) if isinstance(piece, Whole | Cut)]
        if any(isinstance(p, Gather) and (p.index.kind.rank or others) for p in rest):
            return None
        with context.unmasked():  # the mask is about the windows; an index that fails without it ends the batched code
            node = read_pieces(context, base, rest, Kind(base.kind.family, base.kind.dtype, len(left)))
        place = {dim: left.index(dim) for dim in dims}
    else:
        node, place = base, {dim: dim for dim in dims}
    done: list[int] = []
    for reach in found:
        at = place[reach.dim] - sum(other < place[reach.dim] for other in done)
        done.append(place[reach.dim])
        node = _window(node, at, reach, padded=context.mask is not None)
    node.kind = kind
    turned = tuple(axis for reach in found for axis in reach.turned)
    if turned:
        node = Node("turned", (node,), node.axes, kind, {"turned": turned, "extents": node.attrs["extents"]})
    if context.mask is not None:
        places = [(extent_of(base, reach.dim), reach) for reach in found]
        context.vanishing[node.serial] = Vanishing(context.mask, others, places)
    return node


def _window(node: Node, dim: int, reach: Reach, *, padded: bool) -> Node:
    """One dimension of a lane's value becomes one or two axes. ``padded``: zeros may stand around it."""
    extents = [extent_of(node, k) for k in range(node.kind.rank) if k != dim]
    kind = Kind(node.kind.family, node.kind.dtype, node.kind.rank - 1)
    operands = (reach.first, *(part for axis, step in zip(reach.axes, reach.steps, strict=True)
                               for part in (axis.extent, step)))  # fmt: skip
    attrs = {"dim": dim, "walked": reach.axes, "extents": extents, "padded": padded}
    return Node("stencil", (node, *operands), merge_axes(node.axes, reach.axes), kind, attrs)


# ---------------------------------------------------------------- sums of windows


def remaining(context: Context, value: Node, mask: Node) -> Node | None:
    """What is left of a mask for a sum of a value that is zero wherever the rest of it does not hold.

    That may need factors that are finite. Where gradients flow, a leaf that no lane reads has none: some lane must
    read inside then, and nothing else may be asked.
    """
    factors: list[Node] = []
    found = _vanishing(context, value, mask, factors)
    if found is None or (context.needs_grad and found.others):
        return mask
    for factor in factors:
        if "float" in str(nodes.lane_dtype(factor.kind)):
            context.add_check(Node("finite", (factor,), (), nodes.BOOL))
    if context.needs_grad:
        for extent, reach in found.places:
            _check_some(context, extent, reach)
    rest: Node | None = None
    for other in found.others:
        rest = nodes.both(rest, other)
    return rest


def _vanishing(context: Context, value: Node, mask: Node, factors: list[Node]) -> Vanishing | None:
    """The read that makes a value zero; the factors beside it are collected."""
    if value.serial in context.vanishing:
        found = context.vanishing[value.serial]
        return found if found.mask is mask else None
    match value.op, value.args:
        case (("cast" | "retype"), [one]):
            return _vanishing(context, one, mask, factors)
        case "elementwise", [one] if value.attrs["name"] == "neg":
            return _vanishing(context, one, mask, factors)
        case (("elementwise" | "matmul"), [one, other]) if value.attrs.get("name", "mul") in ("mul", "torch.mul"):
            for zero, factor in ((one, other), (other, one)):
                if (found := _vanishing(context, zero, mask, factors)) is not None:
                    factors.append(factor)
                    return found
        case "fold", [one] if value.attrs["name"] == "sum":
            return _vanishing(context, one, mask, factors)
    return None


def _check_some(context: Context, extent: Node, reach: Reach) -> None:
    """Require that steps which begin before the end, end behind the start and are no longer than the array meet it."""
    context.check_at_most(nodes.plus(reach.first, nodes.const(1)), extent)
    last = reach.first
    for axis, step in zip(reach.axes, reach.steps, strict=True):
        context.check_at_most(step, extent)
        span = nodes.minus(axis.extent, nodes.const(1))
        value = nodes.constant_of(step)
        last = nodes.plus(last, nodes.times(span, value) if value is not None else _scalar_product(span, step))
    context.check_at_most(nodes.const(0), last)


def _scalar_product(a: Node, b: Node) -> Node:
    return nodes.elementwise("mul", [a, b], nodes.INT)
