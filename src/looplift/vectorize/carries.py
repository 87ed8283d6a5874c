"""Carried values of a loop that became an axis: reductions, and last values."""

from __future__ import annotations

from looplift.ir.array import Axis, Node
from looplift.ir.grammar import UNDEFINED, Carry, Let, Loop, Var
from looplift.vectorize import alone, doubts, nodes, proofs
from looplift.vectorize.context import Context, Contribution
from looplift.vectorize.nodes import Affine, Val
from looplift.vectorize.reductions import Accumulator, accumulator_of


def open_carry(context: Context, loop: Loop, carry: Carry) -> None:
    if carry.inside in context.accumulators:
        return
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.val(carry.init)
        return
    if not context.flow.users.get(carry.inside) or proofs.only_carried(context, carry):
        return
    found = accumulator_of(context.flow, loop, carry)
    if found is None:
        raise context.refuse("carried", f"'{carry.hint}' is carried from one iteration to the next")
    open_reduction(context, found)


def open_reduction(context: Context, found: Accumulator) -> None:
    """From here on the updates of a reduction are collected."""
    proofs.check_reduction(context, found)
    for var in (*found.chain, *found.updates):
        context.accumulators[var] = found
    context.contributions[found] = []


def contribute(context: Context, var: Var) -> None:
    found = context.accumulators[var]
    atom, negate = found.updates[var]
    value = context.node(atom)
    if negate:
        value = nodes.negative(value, context.facts.of[found.carry.after].kind.dtype)
    made = context.flow.definition[var]
    leads = isinstance(made, Let) and made.op.name.startswith("builtin.") and made.op.args[0] is atom
    found_here = Contribution(found.operator, value, context.mask, tuple(context.axes), leads)
    context.contributions[found].append(found_here)


def close_carry(context: Context, loop: Loop, carry: Carry, axis: Axis, mask: Node | None) -> None:
    found = context.accumulators.get(carry.inside)
    if found is not None:
        if found.loop is loop and found.carry is carry:
            from looplift.vectorize.folding import total

            context.vals[carry.after] = Val(total(context, found, axis))
        return
    if carry.next is carry.inside:
        context.vals[carry.after] = context.val(carry.init)
        return
    if mask is not None or axis.is_ragged:
        raise context.refuse("carried", f"the last value of '{carry.hint}' in a loop that some lanes may not enter")
    context.vals[carry.after] = _last_value(context, carry, axis)


def _last_value(context: Context, carry: Carry, axis: Axis) -> Val:
    val = context.val(carry.next)
    if carry.next is UNDEFINED or val.sequence is not None or val.items is not None:
        raise context.refuse("carried", f"the last value of '{carry.hint}'")
    kind = context.facts.of[carry.after].kind
    if val.affine is not None and any(a is axis for a, _ in val.affine.terms):
        return _last_index(val.affine, axis)
    if axis not in val.node.axes:
        return val
    if context.facts.reads[carry.after] or any(atom is carry.after for _, atom in context.facts.function.results):
        doubts.check_last(context, val.node, axis)
        alone.check(context, val.node)
    rest = tuple(a for a in val.node.axes if a is not axis)
    return Val(Node("last", (val.node,), rest, kind, {"axis": axis}, carry.hint))


def _last_index(form: Affine, axis: Axis) -> Val:
    from looplift.vectorize.context import node_of

    coefficient = dict(form.terms)[axis]
    last = nodes.plus(axis.lo, nodes.times(nodes.minus(axis.extent, nodes.const(1)), axis.step))
    made = Affine(
        tuple(t for t in form.terms if t[0] is not axis), nodes.plus(form.base, nodes.times(last, coefficient))
    )
    return Val(node_of(made), made) if made.terms else Val(made.base)
