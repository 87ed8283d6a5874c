"""Subscripts in, the place of an array that they name out, and whether two of them can never be the same one."""

from __future__ import annotations

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

    ``field[x, n]`` and ``field[x - 1, n + 1]`` in a loop over x. Negative subscripts count from the end, so both
    must be known to be at least zero.
    """
    return any(_differ(context, x, y, loop) for x, y in _leading(a, b))


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
    if isinstance(x, Slice) or isinstance(y, Slice):
        return False
    first, second = _linear(context, x), _linear(context, y)
    if first is None or second is None:
        return False
    if first[0] != second[0]:
        return _is_before(context, first, second) or _is_before(context, second, first)
    if first[1] == second[1]:
        return False
    if any(may_change(context, var, loop) for var in first[0]):
        return False
    return is_positive(context, x) and is_positive(context, y)


def _is_before(context: Context, fixed: Linear, other: Linear) -> bool:
    """Whether an index from the start is less than another one ever is."""
    least = _least(context, other)
    return not fixed[0] and fixed[1] >= 0 and least is not None and least > fixed[1]


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
