"""Running extremes whose gradient depends on the order of equal values: ``best = torch.maximum(best, v)`` as one fold.

Each step hands half of what reaches it to each of two equal operands. So of the contributions that are the extreme, the
last one takes one half, the one before it a quarter, and so on; the first of all takes as much as the second.
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
from looplift.ir.grammar import Loop, Var, walk
from looplift.vectorize import doubts, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.reductions import Accumulator

EMPTY = {"maximum": float("-inf"), "minimum": float("inf")}


def needs_order(context: Context, found: Accumulator) -> bool:
    """Whether a reduction is an extreme of floats through which gradients may flow."""
    kind = context.facts.of[found.carry.after].kind
    floating = kind.family == "float" or "float" in str(kind.dtype)
    return found.operator in ("min", "max", *EMPTY) and context.needs_grad and floating


def keeps_order(context: Context, found: Accumulator) -> bool:
    """Whether that is one step in each iteration of one loop, between tensors of one shape: it can be a fold."""
    facts, carry = context.facts, found.carry
    inner = [s for s in walk(found.loop.body) if isinstance(s, Loop)]
    if context.library != "torch" or found.operator not in EMPTY or len(found.updates) != 1:
        return False
    if any(other.after in found.chain for loop in inner for other in loop.carries):
        return False
    ((value, _),) = found.updates.values()
    known = [facts.of.get(atom) for atom in (carry.init, value, carry.after) if isinstance(atom, Var)]
    alike = {(fact.kind, tuple(fact.shape)) for fact in known if fact is not None}
    return len(known) == 3 and None not in known and len(alike) == 1 and facts.kind(carry.after).family == "tensor"


def extreme(context: Context, found: Accumulator, axis: Axis) -> Node:
    """The carried value after the loop."""
    (contribution,) = context.contributions[found]
    kind, init = context.facts.of[found.carry.after].kind, context.node(found.carry.init)
    value, mask = contribution.value, contribution.mask
    if axis.is_ragged:
        doubts.check_entries(context, value, axis)
    if mask is not None:
        value = context.select(mask, value, nodes.const(EMPTY[found.operator]), kind)
    axes = merge_axes((axis,), value.axes, init.axes, mask.axes if mask is not None else ())
    if value.axes != axes:
        value = Node("spread", (value,), axes, kind, {}, value.hint)
    rest = merge_axes(tuple(one for one in axes if one is not axis), axis.parents)
    args = (init, value) if mask is None else (init, value, mask)
    attrs = {"axis": axis, "operator": found.operator}
    return Node("extreme_in_order", args, rest, kind, attrs, found.carry.hint)
