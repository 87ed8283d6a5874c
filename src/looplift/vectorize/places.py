"""Subscripts of one array in, whether they can never name the same place."""

from __future__ import annotations

from looplift.ir.grammar import Const, Let, Loop, Operand, Range, Slice, Var
from looplift.vectorize.context import Context

Path = list[Operand]
Linear = tuple[dict[Var, int], int]


def are_disjoint(context: Context, a: Path, b: Path, loop: Loop) -> bool:
    """Whether the places differ in all iterations of a loop: some subscripts differ by a constant that is not zero.

    ``field[x, n]`` and ``field[x - 1, n + 1]`` in a loop over x. Negative subscripts count from the end, so both
    must be known to be at least zero.
    """
    return any(_differ(context, x, y, loop) for x, y in _aligned(a, b))


def _aligned(a: Path, b: Path) -> list[tuple[Operand, Operand]]:
    """Subscripts of the same dimension, as far as dimensions can be counted."""
    pairs = _leading(a, b)
    if all(any(_is_ellipsis(item) for item in path) for path in (a, b)):
        pairs += _leading(a[::-1], b[::-1])
    return pairs


def _leading(a: Path, b: Path) -> list[tuple[Operand, Operand]]:
    pairs = []
    for x, y in zip(a, b, strict=False):
        if not all(
            isinstance(item, Var | Slice) or (isinstance(item, Const) and type(item.value) is int) for item in (x, y)
        ):
            break
        pairs.append((x, y))
    return pairs


def _is_ellipsis(item: Operand) -> bool:
    return isinstance(item, Const) and item.value is Ellipsis


def _differ(context: Context, x: Operand, y: Operand, loop: Loop) -> bool:
    if isinstance(x, Slice) or isinstance(y, Slice):
        return False
    first, second = _linear(context, x), _linear(context, y)
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return False
    if any(loop in context.facts[var].loops for var in first[0]):
        return False
    return all(least is not None and least >= 0 for least in (_least(context, first), _least(context, second)))


def _linear(context: Context, operand: Operand) -> Linear | None:
    """An integer as a sum of variables and a constant."""
    if isinstance(operand, Const):
        return ({}, operand.value) if type(operand.value) is int else None
    if not isinstance(operand, Var) or context.facts.kind(operand).family != "int":
        return None
    statement = context.flow.definition.get(operand)
    if isinstance(statement, Let) and statement.op.name in ("add", "sub") and not statement.op.kwargs:
        parts = [_linear(context, arg) for arg in statement.op.args]
        if all(part is not None for part in parts):
            (terms, constant), (others, more) = parts  # type: ignore[misc]
            sign = 1 if statement.op.name == "add" else -1
            every = {var: terms.get(var, 0) + sign * others.get(var, 0) for var in {**terms, **others}}
            return {var: factor for var, factor in every.items() if factor}, constant + sign * more
    return {operand: 1}, 0


def _least(context: Context, form: Linear) -> int | None:
    """The least value of a linear form over the ranges of loop indices, if it is known."""
    terms, total = form
    for var, factor in terms.items():
        low = _least_index(context, var)
        if low is None or factor < 0:
            return None
        total += factor * low
    return total


def _least_index(context: Context, var: Var) -> int | None:
    loop = next((one for one in context.facts[var].loops if one.index is var), None)
    if loop is None or not isinstance(loop.domain, Range):
        return None
    lo, hi, step = loop.domain.lo, loop.domain.hi, loop.domain.step
    if not isinstance(step, Const) or type(step.value) is not int or not step.value:
        return None
    bound = lo if step.value > 0 else hi
    if not isinstance(bound, Const) or type(bound.value) is not int:
        return None
    return bound.value + (step.value < 0)
