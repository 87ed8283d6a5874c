"""A function and the values that it is called with in, the function for values of these kinds out.

Where a function gets values that no one type holds, as rows in one call and their elements in another, it is written
once for each of them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from looplift.base.data import replace
from looplift.emit.typed_scope import Routine, Value
from looplift.emit.typed_types import NEVER, NONE, NUMBERS, Box, Either, Maybe, Rec, Ten, Tup

MOST = 8
"""For how many kinds of values one function is written."""


def fitting(routine: Routine, values: Mapping[str, Value], routines: dict[Any, Routine]) -> Routine:
    """The function for these arguments, by the names of its parameters; a new one is put beside the others."""
    if routine.namespace is None or routine.outer is not None or routine.memory is not None:
        return routine
    if _fits(routine, values):
        return routine
    for number in range(1, MOST):
        if (found := routines.get((routine, number))) is None:
            found = routines[routine, number] = _again(routine, f"{routine.name}_{len(routines)}")
        if _fits(found, values):
            return found
    return routine


def _again(routine: Routine, name: str) -> Routine:
    """The same function, without what is known of its values; what it makes has places in a text of its own."""
    made = replace(
        routine, name=name, body=copy.deepcopy(routine.body), types={}, result=NEVER, doubtful=set(), calls_itself=False
    )
    made.parameters_of = routine.parameters_of  # type: ignore[attr-defined]
    return made


def _fits(routine: Routine, values: Mapping[str, Value]) -> bool:
    return not any(clash(routine.types.get(name, NEVER), value.type) for name, value in values.items())


def clash(one: Any, other: Any, depth: int = 0) -> bool:
    """Whether no type holds values of both."""
    one, other = (each.inner if isinstance(each, Maybe) else each for each in (one, other))
    if one is other or depth > 4 or any(each in (NEVER, NONE) for each in (one, other)):
        return False
    if isinstance(one, Box) and isinstance(other, Box):
        return _boxes_clash(one.find(), other.find(), depth)
    if isinstance(one, Tup) and isinstance(other, Tup):
        if len(one.items) != len(other.items) or one.of is not other.of:
            return True
        return any(clash(*pair, depth + 1) for pair in zip(one.items, other.items, strict=True))
    if all(each in NUMBERS or isinstance(each, Ten | Either) for each in (one, other)):
        tensors = [each.tensor if isinstance(each, Either) else each for each in (one, other) if each not in NUMBERS]
        return len(tensors) == 2 and tensors[0] != tensors[1]
    if isinstance(one, Rec) and isinstance(other, Rec):
        return one.names != other.names
    return not (one in NUMBERS and other in NUMBERS) and one != other


def _boxes_clash(one: Box, other: Box, depth: int) -> bool:
    if one is other:
        return False
    if one.kind != other.kind or one.default != other.default:
        return True
    if one.made:  # of one class there is one type
        return False
    return any(clash(*pair, depth + 1) for pair in zip(one.cells, other.cells, strict=True))
