"""Proof obligations of a loop: each is one function that returns None, or the reason why not."""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import (
    Carry,
    Const,
    Let,
    Loop,
    Perform,
    While,
    operands,
    walk,
)
from looplift.ops import table
from looplift.vectorize import nodes, ordered_extremes, reductions
from looplift.vectorize.context import Context
from looplift.vectorize.memory import check_memory


def check_loop(context: Context, loop: Loop) -> NotLiftable | None:
    """Whether all iterations of a loop may run together; else the reason."""
    if isinstance(loop.domain, While):
        return NotLiftable("while-condition", "a 'while' loop goes on for as long as its condition holds", loop.span)
    if loop in context.strips:
        return NotLiftable("memory", "it runs piece by piece, so that what it computes fits into memory", loop.span)
    if loop.stop is not None:
        return NotLiftable("carried", "the loop is left early, by 'break' or 'return'", loop.span)
    for check in (check_carries, check_memory, check_effects, check_exponents):
        if (reason := check(context, loop)) is not None:
            return reason
    return None


def check_exponents(context: Context, loop: Loop) -> NotLiftable | None:
    """A power of a complex number by a number that the loop changes is not that by a tensor of such numbers."""
    for statement in walk(loop.body):
        if not isinstance(statement, Let) or table.base_name(statement.op.name) not in table.POWERS:
            continue
        given = [context.facts[atom] for atom in operands(statement.op)]
        if len(given) == 2 and given[0].kind.is_complex and given[1].kind.is_number and loop in given[1].loops:
            message = "powers of complex numbers whose exponents differ by iteration"
            return NotLiftable("unknown-op", message, statement.span)
    return None


def check_carries(context: Context, loop: Loop) -> NotLiftable | None:
    """Every carried value is unchanged, read only after the loop, or a reduction."""
    for carry in loop.carries:
        if carry.inside in context.accumulators or carry.next is carry.inside or only_carried(context, carry):
            continue
        found = reductions.accumulator_of(context.flow, loop, carry)
        if found is None:
            message = f"'{carry.hint}' is carried from one iteration to the next"
            return NotLiftable("carried", message, loop.span)
        try:
            check_reduction(context, found)
        except NotLiftable as reason:
            return reason
    return None


def is_reduction(context: Context, found: reductions.Accumulator) -> bool:
    try:
        check_reduction(context, found)
    except NotLiftable:
        return False
    return True


def only_carried(context: Context, carry: Carry) -> bool:
    """Whether the value at entry of the body is never read there."""
    return not context.flow.users.get(carry.inside)


def check_reduction(context: Context, found: reductions.Accumulator) -> None:
    """A sum of floats may be reassociated unless it decides something; products of Python ints must not wrap."""
    fact = context.facts.of[found.carry.after]
    span = found.loop.span
    name = found.carry.hint
    kind = fact.kind
    if kind.family == "array" and not kind.rank:
        raise NotLiftable("carried", f"'{name}' accumulates in a NumPy array without dimensions", span)
    is_complex = "complex" in str(kind.dtype)
    if kind.family not in ("tensor", "array", "numpy", "int", "float", "bool") or (
        is_complex and found.operator != "add"
    ):
        what = "complex numbers" if is_complex or kind.family == "complex" else f"{kind.family}s"
        raise NotLiftable("carried", f"'{name}' accumulates {what}", span)
    floating = kind.family == "float" or "float" in str(kind.dtype) or is_complex
    deciding = any(var in context.flow.deciding for var in found.updates)
    if floating and found.operator in ("add", "mul") and deciding:
        raise NotLiftable("carried", f"'{name}' decides a branch or an index, so its sum must keep its order", span)
    init = found.carry.init
    if found.operator == "add" and isinstance(init, Const) and nodes.is_negative_zero(init.value):
        raise NotLiftable("carried", f"'{name}' begins with -0.0, which sums of arrays do not", span)
    if found.operator == "mul" and kind.family == "int":
        raise NotLiftable("integer-range", f"the product '{name}' of Python integers may exceed 64 bits", span)
    if (
        kind.family == "bool"
        or str(kind.dtype) == "bool"
        or (found.operator in ("and", "or") and kind.family != "bool")
    ):
        raise NotLiftable("carried", f"'{name}' accumulates by '{found.operator}'", span)
    if ordered_extremes.needs_order(context, found) and not ordered_extremes.keeps_order(context, found):
        raise NotLiftable("carried", f"the gradient of '{name}' depends on the order of equal values", span)
    if "float16" in str(kind.dtype) and found.operator in ("add", "mul"):
        raise NotLiftable("carried", f"'{name}' rounds to half precision at each step", span)
    if (
        kind.family != "float"
        and kind.family != "int"
        and str(kind.dtype) in ("torch.uint8", "torch.int8", "uint8", "int8")
    ):
        raise NotLiftable("carried", f"'{name}' accumulates in a small integer type", span)


# ---------------------------------------------------------------- effects


def check_effects(context: Context, loop: Loop) -> NotLiftable | None:
    """Effects that must keep their order stand alone in a small loop of their own, or the loop stays."""
    for statement in walk(loop.body):
        if isinstance(statement, Let) and table.family(statement.op.name) == "random":
            if not any(statement is s for s in loop.body):
                return NotLiftable(
                    "random-order", "random numbers are drawn in an inner loop or under an 'if'", statement.span
                )
    for inner in walk(loop.body):
        if isinstance(inner, Loop) and (printed := next((s for s in walk(inner.body) if isinstance(s, Perform)), None)):
            return NotLiftable("effect-order", "something is printed in an inner loop", printed.span)
    return None
