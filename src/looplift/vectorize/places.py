"""Subscripts in, the place of an array that they name out, and whether two of them can never be the same one."""

from __future__ import annotations

import itertools
import math

from looplift.ir.grammar import Const, Group, Let, Loop, Operand, Range, Slice, Var, definitions, walk
from looplift.vectorize import sharing
from looplift.vectorize.context import Context
from looplift.vectorize.flow import stored_roots

Path = list[Operand]
"""For each dimension of an array, from the first on, an index or a slice; dimensions that are left out are whole."""
Linear = tuple[dict[Var, int], int]


WHOLE = Slice(Const(None), Const(None), Const(None))


def path_of(context: Context, ref: Operand, index: Operand) -> Path | None:
    """What a subscript of an array, or of a place in one, names; None where dimensions cannot be counted."""
    last = by_dimension(context, ref, index)
    statement = context.flow.definition.get(ref) if isinstance(ref, Var) else None
    if last is None or not isinstance(statement, Let) or statement.op.name not in ("getitem", "iter_item"):
        return last
    lead = path_of(context, *statement.op.args)
    if lead is None or _adds_dimension(statement.op.args[1]) or any(isinstance(item, Slice) for item in lead):
        return None
    if any(_is_table(context, item) for item in lead):
        return lead  # a part of a copy
    return lead + last


def by_dimension(context: Context, ref: Operand, index: Operand) -> Path | None:
    """The items of a subscript, one for each dimension; an ellipsis as slices, a mask once for each of its own."""
    items = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    items = [item for item in items if not _is_constant(item, None)]
    if any(_is_constant(item, bool) or _is_tuple(context, item) or not _dimensions_of(context, item) for item in items):
        return None
    items = [part for item in items for part in [item] * _dimensions_of(context, item)]
    places = [k for k, item in enumerate(items) if _is_constant(item, Ellipsis)]
    if not places:
        return items
    rank = context.facts.kind(ref).rank if isinstance(ref, Var) else 0
    (place, *more), missing = places, rank - len(items) + 1
    if more or missing < 0:
        return None
    after = items[place + 1 :]
    return items[:place] + ([WHOLE] * missing + after if after else [])


def _adds_dimension(index: Operand) -> bool:
    items = index.items if isinstance(index, Group) else (index,)
    return any(_is_constant(item, None) for item in items)


def _is_constant(item: Operand, value: object) -> bool:
    """Whether an item of a subscript is this very value, or a constant of this type."""
    return isinstance(item, Const) and (item.value is value or (value is bool and type(item.value) is bool))


def _is_tuple(context: Context, item: Operand) -> bool:
    return isinstance(item, Var) and context.facts.kind(item).family == "tuple"


def _is_table(context: Context, item: Operand) -> bool:
    """Whether an item picks several places, so that a subscript gives a copy."""
    if isinstance(item, Var):
        kind = context.facts.kind(item)
        return kind.family == "list" or (kind.is_array and (kind.rank > 0 or "bool" in str(kind.dtype)))
    return isinstance(item, Group)


def _dimensions_of(context: Context, item: Operand) -> int:
    """How many dimensions of the array an item speaks of: a mask of as many as it has itself."""
    kind = context.facts.kind(item) if isinstance(item, Var) else None
    return kind.rank if kind is not None and kind.is_array and "bool" in str(kind.dtype) else 1


def are_disjoint(context: Context, a: Path, b: Path, loop: Loop) -> bool:
    """Whether the places differ in all iterations of a loop: some subscripts differ by a constant that is not zero.

    ``field[x, n]`` and ``field[x - 1, n + 1]`` in a loop over x, ``row[d]`` and ``row[d + 1]`` in one over every other
    d. Negative subscripts count from the end, so both must be known to be at least zero.
    """
    pairs = [(x, y) for x, y in _leading(a, b) if not isinstance(x, Slice) and not isinstance(y, Slice)]
    apart = any(_differ(context, x, y, loop) or _interleave(context, x, y, loop) for x, y in pairs)
    return apart or are_mirrored(context, a, b)


def are_mirrored(context: Context, a: Path, b: Path, gap: int = 1) -> bool:
    """Whether places lie on two sides of a diagonal: ``table[i, j]`` and ``table[j, i]`` where j is greater than i.

    With a ``gap`` of 0 they may meet on it, in one iteration: that in which both are there.
    """
    plain = [(x, y) for x, y in _leading(a, b) if not isinstance(x, Slice) and not isinstance(y, Slice)]
    for (x, y), (far, other) in itertools.permutations(plain, 2):
        swapped = _linear(context, x) == _linear(context, other) and _linear(context, y) == _linear(context, far)
        if (gap or swapped) and _is_less(context, x, far, gap) and _is_less(context, other, y, 0):
            return all(is_positive(context, one) for one in (x, y, far, other))
    return False


def _is_less(context: Context, x: Operand, y: Operand, gap: int) -> bool:
    """Whether two integers are this far apart at least, in the same iteration of all loops."""
    first, second = _linear(context, x), _linear(context, y)
    if first is None or second is None:
        return False
    least = _least(context, _sum(second, first, -1))
    return least is not None and least >= gap


def _leading(a: Path, b: Path) -> list[tuple[Operand, Operand]]:
    """Subscripts of the same dimension, up to the first that is no plain one."""
    pairs = []
    for x, y in zip(a, b, strict=False):
        if not all(
            isinstance(item, Var | Slice) or (isinstance(item, Const) and type(item.value) is int) for item in (x, y)
        ):
            break
        pairs.append((x, y))
    return pairs


def _differ(context: Context, x: Operand, y: Operand, loop: Loop) -> bool:
    first, second = _linear(context, x), _linear(context, y)
    if first is None or second is None:
        return False
    if first[0] == second[0]:
        apart, steady = first[1] != second[1], not _moves(context, first, loop)
    else:
        apart = _is_less(context, x, y, 1) or _is_less(context, y, x, 1)
        steady = not _moves(context, first, loop) or not _moves(context, second, loop)
    return apart and steady and is_positive(context, x) and is_positive(context, y)


def _interleave(context: Context, x: Operand, y: Operand, loop: Loop) -> bool:
    """Whether subscripts leave two remainders in all iterations, as even and odd ones do."""
    first, second = _remainder(context, x, loop), _remainder(context, y, loop)
    if first is None or second is None:
        return False
    (form, modulus), (other, divisor) = first, second
    terms, apart = _sum(form, other, -1)
    common = math.gcd(modulus, divisor)
    interleaved = not terms and common > 1 and apart % common != 0
    return interleaved and is_positive(context, x) and is_positive(context, y)


def _remainder(context: Context, operand: Operand, loop: Loop) -> tuple[Linear, int] | None:
    """What a subscript is in all iterations of a loop, but for multiples of a number."""
    form, modulus = _linear(context, operand), 0
    while form is not None and (var := next((one for one in form[0] if may_change(context, one, loop)), None)):
        if (domain := _domain_of(context, var)) is None:
            return None
        (lo, step), factor = domain, form[0][var]
        modulus = math.gcd(modulus, factor * step)
        form = _sum(form, _sum(lo, ({var: 1}, 0), -1), factor)
    return None if form is None else (form, modulus)


def _domain_of(context: Context, index: Var) -> tuple[Linear, int] | None:
    """Where the index of a loop begins, and its step, if that is known."""
    loop = next((one for one in context.facts[index].loops if one.index is index), None)
    if loop is None or not isinstance(loop.domain, Range):
        return None
    lo, step = _linear(context, loop.domain.lo), loop.domain.step
    if lo is None or not isinstance(step, Const) or type(step.value) is not int or not step.value:
        return None
    return lo, step.value


def _moves(context: Context, form: Linear, loop: Loop) -> bool:
    return any(may_change(context, var, loop) for var in form[0])


def may_change(context: Context, var: Var, loop: Loop) -> bool:
    """Whether a value may be another one in another iteration of a loop, or of one inside of it."""
    if loop not in context.changing:
        context.changing[loop] = _read_from_written(context, loop)
    moving = {loop, *(inner for inner in walk(loop.body) if isinstance(inner, Loop))}
    return var in context.changing[loop] or not moving.isdisjoint(context.facts[var].loops)


def _read_from_written(context: Context, loop: Loop) -> set[Var]:
    """What a loop computes from the memory that it writes to."""
    written = stored_roots(context.flow, loop.body)
    made = {var for statement in walk(loop.body) for var in definitions(statement)}
    found: set[Var] = set()
    size = -1
    while len(found) > size:
        size = len(found)
        for var in made - found:
            sources = [atom for atom in context.flow.sources.get(var, ()) if isinstance(atom, Var)]
            if any(a in found or {context.flow.root(a), sharing.origin(context, a)} & written for a in sources):
                found.add(var)
    return found


def is_positive(context: Context, operand: Operand) -> bool:
    """Whether a subscript surely counts from the start."""
    form = _linear(context, operand)
    least = None if form is None else _least(context, form)
    return least is not None and least >= 0


def _linear(context: Context, operand: Operand) -> Linear | None:
    """An integer as a sum of variables and a constant."""
    if isinstance(operand, Const):
        return ({}, operand.value) if type(operand.value) is int else None
    if not isinstance(operand, Var) or context.facts.kind(operand).family != "int":
        return None
    statement = context.flow.definition.get(operand)
    if isinstance(statement, Let) and statement.op.name in ("add", "sub") and not statement.op.kwargs:
        first, second = (_linear(context, arg) for arg in statement.op.args)
        if first is not None and second is not None:
            return _sum(first, second, 1 if statement.op.name == "add" else -1)
    if isinstance(statement, Let) and statement.op.name == "mul" and not statement.op.kwargs:
        first, second = (_linear(context, arg) for arg in statement.op.args)
        for form, times in ((first, second), (second, first)):
            if form is not None and times is not None and not times[0]:
                return _sum(({}, 0), form, times[1])
    return {operand: 1}, 0


def _sum(form: Linear, other: Linear, factor: int) -> Linear:
    (terms, constant), (others, more) = form, other
    every = {var: terms.get(var, 0) + factor * others.get(var, 0) for var in {**terms, **others}}
    return {var: times for var, times in every.items() if times}, constant + factor * more


def _least(context: Context, form: Linear) -> int | None:
    """The least value of a linear form over the ranges of loop indices, the innermost first, if it is known."""
    while form[0]:
        var = max(form[0], key=lambda one: len(context.facts[one].loops))
        factor = form[0][var]
        bound = _bound_of_index(context, var, least=factor > 0)
        if bound is None:
            return None
        form = _sum(form, _sum(bound, ({var: 1}, 0), -1), factor)
    return form[1]


def _bound_of_index(context: Context, var: Var, *, least: bool) -> Linear | None:
    """What the index of a loop is at least, or at most."""
    loop = next((one for one in context.facts[var].loops if one.index is var), None)
    if loop is None or not isinstance(loop.domain, Range):
        return None
    lo, hi, step = loop.domain.lo, loop.domain.hi, loop.domain.step
    if not isinstance(step, Const) or type(step.value) is not int or not step.value:
        return None
    form = _linear(context, lo if (step.value > 0) == least else hi)
    inside = 0 if (step.value > 0) == least else -1 if step.value > 0 else 1
    return None if form is None else (form[0], form[1] + inside)
