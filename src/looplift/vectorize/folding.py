"""Folds the contributions of a reduction over the axes that its loop and the loops inside became."""

from __future__ import annotations

import math

from looplift.ir.array import Axis, Node, ancestors, array_read, merge_axes
from looplift.ir.facts import Kind
from looplift.vectorize import doubts, linear, nodes, ordered_extremes, stencils
from looplift.vectorize.context import Context, Contribution
from looplift.vectorize.given import finite_at_first
from looplift.vectorize.numbers import bounded
from looplift.vectorize.reductions import Accumulator
from looplift.vectorize.sheltered import sheltered

BINARY = {"add": "add", "mul": "mul", "max": "builtin.max", "min": "builtin.min", "maximum": "torch.maximum",
          "minimum": "torch.minimum", "and": "and_", "or": "or_"}  # fmt: skip


def total(context: Context, found: Accumulator, axis: Axis) -> Node:
    """The carried value after the loop: what it was before, combined with all contributions."""
    kind = context.facts.of[found.carry.after].kind
    if ordered_extremes.needs_order(context, found):
        extreme = ordered_extremes.extreme(context, found, axis)
        context.check(equals_itself(extreme))  # no NaN has a gradient as others do
        return extreme
    value = context.node(found.carry.init)
    if (first := _first_place(context, found, axis, value)) is not None:
        return first
    if _floating(kind) and any(one.leads for one in context.contributions[found]):
        context.check(nodes.compare("eq", value, value))
    collected = _joined(context, context.contributions[found], kind)
    parts = [folded(context, contribution, axis, kind) for contribution in collected]
    if found.operator == "add" and kind.family == "int" and any(one.axes for one in (value, *parts)):
        bounded(context, value, 62)
    for part in parts:
        value = _combine(context, found.operator, value, part, kind)
    value.hint = found.carry.hint
    if found.operator == "add" and "complex" in str(kind.dtype):  # torch multiplies by 1 first, which may make NaN
        _check_finite(context, value)
    if found.operator == "mul":
        check_product(context, context.node(found.carry.init), parts, kind)
        return _unsaved(context, value)
    return value


def _first_place(context: Context, found: Accumulator, axis: Axis, end: Node) -> Node | None:
    """The index of the first iteration in which a mask holds, where none does the end of the range."""
    if len(context.contributions[found]) != 1 or abs(axis.step) != 1 or axis.is_ragged or end.axes:
        return None
    (contribution,) = context.contributions[found]
    value, mask = contribution.value, contribution.mask
    forward = found.operator == ("min" if axis.step > 0 else "max")
    if not forward or value.op != "index" or value.attrs["axis"] is not axis or mask is None or axis not in mask.axes:
        return None
    past = nodes.plus(axis.lo, nodes.times(axis.extent, axis.step))
    alone = contribution.axes[contribution.axes.index(axis) :] == (axis,)
    if not alone or any(a.is_ragged for a in mask.axes) or not nodes.same_integer(end, past):
        return None
    around, inner = _last_part(mask)
    if around is context.mask and axis in inner.axes:
        mask = inner  # what lanes hold that do not come by here is not looked at
    rest = tuple(a for a in mask.axes if a is not axis)
    return Node("first_true", (mask, end), rest, nodes.INT, {"axis": axis, "bits": nodes.INDEX_BITS}, found.carry.hint)


def _joined(context: Context, contributions: list[Contribution], kind: Kind) -> list[Contribution]:
    """``total + a`` where a mask holds and ``total + b`` where it does not are one contribution, chosen by the mask."""
    joined: list[Contribution] = []
    for contribution in contributions:
        joined.append(contribution)
        while len(joined) > 1 and (made := _either(context, joined[-2], joined[-1], kind)) is not None:
            joined[-2:] = [made]
    return joined


def _either(context: Context, first: Contribution, second: Contribution, kind: Kind) -> Contribution | None:
    if first.mask is None or second.mask is None or not _floating(kind) or context.vanishing:
        return None
    (rest, holds), (others, fails) = _last_part(first.mask), _last_part(second.mask)
    negated = fails.op == "elementwise" and fails.attrs["name"] == "not" and fails.args[0] is holds
    alike = first.operator == second.operator and first.axes == second.axes
    then, orelse = _typed(first.value, kind), _typed(second.value, kind)
    if not (negated and rest is others and alike and then.kind == orelse.kind):
        return None
    saved, context.mask = context.mask, rest
    value = context.select(holds, then, orelse, then.kind)
    context.mask = saved
    return Contribution(first.operator, value, rest, first.axes, first.leads or second.leads)


def _last_part(mask: Node) -> tuple[Node | None, Node]:
    """A mask as the one around and the condition of the innermost ``if``."""
    if mask.op == "elementwise" and mask.attrs["name"] == "and_" and len(mask.args) == 2:
        return mask.args[0], mask.args[1]
    return None, mask


def _unsaved(context: Context, value: Node) -> Node:
    """A product that may be changed in place: ``prod`` keeps its result for backward, a chain of factors does not."""
    if not context.needs_grad or context.library != "torch" or value.op != "reduce" or not value.kind.is_array:
        return value
    return Node("method", (value,), value.axes, value.kind, {"name": "clone", "extents": None}, value.hint)


def check_product(context: Context, init: Node, parts: list[Node], kind: Kind) -> None:
    """Factors in another order may overflow or vanish on the way where the loop's do not, or the other way round: in no
    order do they where neither those above 1 nor those below do."""
    if not _floating(kind):
        return
    large, small = _sizes(context, init)
    for part in parts:
        above, below = _sizes(context, part.args[0] if part.op == "reduce" else part)
        if part.op == "reduce":
            above, below = (Node("reduce", (one,), part.axes, one.kind, part.attrs) for one in (above, below))
        large, small = _multiplied(large, above), _multiplied(small, below)
    least = nodes.const(math.ldexp(1.0, -1022 if "64" in str(nodes.lane_dtype(kind)) else -126))
    context.check(nodes.compares_all("lt", large, nodes.const(math.inf)))
    context.check(nodes.compares_all("ge", small, least))


def _sizes(context: Context, factor: Node) -> tuple[Node, Node]:
    """How large a factor is where that is above 1, and where it is below, and not zero; 1 elsewhere."""
    if context.needs_grad and factor.kind.family == "tensor":
        factor = Node("method", (factor,), factor.axes, factor.kind, {"name": "detach"})
    size, one = nodes.elementwise("builtin.abs", [factor], factor.kind), nodes.const(1.0)
    below, some = _compared("lt", size, one), _compared("gt", size, nodes.const(0.0))
    counts = nodes.elementwise("and_", [below, some], below.kind)
    return nodes.select(below, one, size, factor.kind), nodes.select(counts, size, one, factor.kind)


def _multiplied(one: Node, other: Node) -> Node:
    return nodes.elementwise("mul", [one, other], max((one.kind, other.kind), key=lambda kind: kind.rank))


def _check_finite(context: Context, value: Node) -> None:
    zero = nodes.const(0.0)
    context.check(nodes.compares_all("eq", nodes.elementwise("mul", [value, zero], value.kind), zero))


def _compared(name: str, row: Node, number: Node) -> Node:
    """A comparison of each item of a row."""
    kind = Kind(row.kind.family, nodes.lane_dtype(nodes.BOOL), row.kind.rank) if row.kind.rank else nodes.BOOL
    return nodes.elementwise(name, [row, number], kind)


def equals_itself(row: Node) -> Node:
    """Whether none of a row's items is NaN."""
    return nodes.compares_all("eq", row, row)


def _home(contribution: Contribution, axis: Axis) -> tuple[Axis, ...]:
    """The axes over which a contribution is summed: the reduction's loop and the loops inside of it."""
    position = contribution.axes.index(axis)
    return contribution.axes[position:]


def folded(context: Context, contribution: Contribution, axis: Axis, kind: Kind) -> Node:
    """A contribution reduced over an axis and those inside of it."""
    home = _home(contribution, axis)
    value, mask = contribution.value, contribution.mask
    value = _typed(value, kind)
    if kind.is_array and value.kind.is_array:
        kind = Kind(kind.family, kind.dtype, value.kind.rank)  # which may be lower than that of the carried value
    operator = contribution.operator
    if operator == "add" and kind.family == "int":
        _check_sum(context, contribution)
    # masks of the outer activity do not belong to this reduction's lanes but do no harm
    present = merge_axes(value.axes, mask.axes if mask is not None else ())
    inner = [a for a in home if a in present or any(a in ancestors(p) for p in present)]
    absent = [a for a in home if a not in inner and not any(a in ancestors(p) for p in home)]
    if operator in ("add", "mul") or any(a.is_ragged for a in absent):  # a ragged one may have no iteration
        value = _repeated(operator, value, absent)
    sums = [a for a in merge_axes(value.axes, mask.axes if mask is not None else ()) if a in home]
    for ragged in (a for a in home if a.is_ragged):
        doubts.check_entries(context, value, ragged)
    if mask is not None and operator == "add":
        mask = stencils.remaining(context, value, mask)
    if mask is not None and operator == "add" and (product := _masked_product(context, value, mask, sums)) is not None:
        value = product
    elif mask is not None:
        value = context.select(mask, value, _identity(operator, kind), kind)
    if operator in ("max", "min") and _floating(kind) and (sums or contribution.leads):
        context.check(nodes.compare("eq", value, value))
    if not sums:
        return value
    return _reduced(value, sums, home, operator, kind)


def _masked_product(context: Context, value: Node, mask: Node, sums: list[Axis]) -> Node | None:
    """A product of which one factor is nothing where the mask does not hold, and the other finite: a contraction.

    sum_j (m_ij ? a_ij * b_jd : 0)        (m ? a : 0) @ b

    Where gradients flow, a lane without an iteration has none of the factors': each must have the first one.
    """
    plain = value.op == "elementwise" and value.attrs["name"] in ("mul", "torch.mul") and len(value.args) == 2
    if not plain or context.library != "torch" or any(a.is_ragged for a in (*value.axes, *mask.axes)):
        return None
    if context.needs_grad and (not _holds_at_first(mask, sums) or context.items_of(value)):
        return None
    for factor, other in (value.args, value.args[::-1]):
        array = array_read(other)
        repeated = not set(mask.axes) <= set(other.axes)
        if array is None or not repeated or factor.kind.dtype != other.kind.dtype or not _floating(factor.kind):
            continue
        if set(value.axes) - set(other.axes) and finite_at_first(context.facts)(array.attrs["text"]):
            context.add_check(Node("finite", (array,), (), nodes.BOOL))
            factor = nodes.held(mask, sheltered(context, factor, mask))
            args = (factor, other)
            return Node("elementwise", args, merge_axes(*(a.axes for a in args)), value.kind, dict(value.attrs))
    return None


def _holds_at_first(mask: Node, sums: list[Axis]) -> bool:
    """Whether a mask surely holds in the first iteration of each of these loops, whatever the loops around are at."""
    for form, _ in linear.conditions(mask):
        base = None if form is None else nodes.constant_of(form.base)
        if form is None or base is None or base < 0:
            return False
        for axis, coefficient in form.terms.items():
            value = nodes.constant_of(coefficient)
            if value is None or (axis not in sums and value < 0):
                return False
    return True


def _check_sum(context: Context, contribution: Contribution) -> None:
    """Sums of Python integers have no bounds: what is summed has room below 64 bits."""
    if contribution.value.kind.family == "bool":
        return
    saved, context.mask = context.mask, contribution.mask
    bounded(context, contribution.value, nodes.INDEX_BITS)
    context.mask = saved


def _reduced(value: Node, sums: list[Axis], home: tuple[Axis, ...], operator: str, kind: Kind) -> Node:
    """The fold over all axes of ``home``: of flat entries at once, or for one ragged loop after another."""
    if all(set(ancestors(axis)) <= set(home) for axis in sums if axis.is_ragged):
        rest = tuple(axis for axis in value.axes if axis not in sums)
    else:
        rest = _remaining(value.axes, sums)
    made = Node("reduce", (value,), rest, kind, {"axes": tuple(sums), "operator": operator}, "total")
    left = [axis for axis in rest if axis in home]
    return _reduced(made, left, home, operator, kind) if left else made


def _floating(kind: Kind) -> bool:
    return kind.family == "float" or "float" in str(kind.dtype)


def _remaining(axes: tuple[Axis, ...], sums: list[Axis]) -> tuple[Axis, ...]:
    """The axes left after summing: a ragged axis gives back its parent, unless that is summed too."""
    rest: list[Axis] = [a for a in axes if a not in sums]
    for axis in sums:
        rest += [parent for parent in axis.parents if parent not in sums and parent not in rest]
    return merge_axes(tuple(rest))


def _typed(value: Node, kind: Kind) -> Node:
    if value.kind == kind or (value.kind.is_array and value.kind.dtype == kind.dtype):
        return value
    if kind.is_array:
        return nodes.cast(value, kind.dtype)
    if value.kind.family == kind.family:
        return value
    if not value.axes:
        return Node("apply", (value,), (), kind, {"name": f"builtin.{kind.family}", "kwargs": [], "positional": 1})
    return Node("retype", (nodes.cast(value, nodes.lane_dtype(kind)),), value.axes, kind)


def _repeated(operator: str, value: Node, absent: list[Axis]) -> Node:
    """A contribution that an axis does not change is added once for each of its iterations."""
    if any(axis.is_ragged for axis in absent) or (operator == "mul" and absent):
        spread = merge_axes(value.axes, tuple(absent))
        return Node("spread", (value,), spread, value.kind, {})
    for axis in absent:
        value = nodes.elementwise("mul", [value, axis.extent], value.kind)
    return value


def _identity(operator: str, kind: Kind) -> Node:
    floating = _floating(kind)
    if operator == "add":
        return nodes.const(0.0 if floating else 0)
    if operator == "mul":
        return nodes.const(1.0 if floating else 1)
    if operator in ("and", "or"):
        return nodes.const(operator == "and")
    low, dtype = operator in ("max", "maximum"), str(kind.dtype or "int64").rpartition(".")[2]
    if floating:
        return nodes.const(float("-inf") if low else float("inf"))
    if kind.family == "bool" or dtype == "bool":
        return nodes.const(not low)
    bits = int("".join(c for c in dtype if c.isdigit()) or 64)
    if dtype.startswith("uint"):
        return nodes.const(0 if low else 2**bits - 1)
    return nodes.const(-(2 ** (bits - 1)) if low else 2 ** (bits - 1) - 1)


def _combine(context: Context, operator: str, init: Node, folded: Node, kind: Kind) -> Node:
    from looplift.vectorize.arithmetic import arithmetic

    if operator == "add" and init.op == "const" and init.kind.is_number and init.attrs["value"] == 0:
        if folded.op == "reduce" or not _floating(folded.kind):
            return folded  # no sum that begins with 0 is -0.0, which a product may be
    if operator == "mul" and init.op == "const" and init.kind.is_number and init.attrs["value"] == 1:
        return folded
    if operator in ("max", "min"):
        test = nodes.compare("gt" if operator == "max" else "lt", folded, init)
        if not test.axes and not kind.is_array:
            return nodes.elementwise(f"builtin.{operator}", [init, folded], kind)
        return context.select(test, folded, _typed(init, kind), kind)
    if kind.is_number:
        return nodes.elementwise(BINARY[operator], [init, folded], kind)
    if init.kind.is_array and init.kind.rank > kind.rank:
        raise context.refuse("mixed-kinds", "the carried value changes its shape")
    return arithmetic(context, BINARY[operator], [init, folded], kind)
