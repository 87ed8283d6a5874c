"""Subscripts of arrays that are arrays, in typed programs: masks and rows of places in, types and C++ out.

labels[labels == k] = 0; heights[np.where(steps)[0] + 1]; table[rows, columns]
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_scope import Value, as_int, plain, refuse
from looplift.emit.typed_types import BOOL, ELEMENTS, FLOAT, INT, MIXED, NEVER, NUMBERS, PLAIN, Arr, array_type

if TYPE_CHECKING:
    from looplift.emit.typed_arrays import Arrays


def are_several(places: list[Value]) -> bool:
    """Whether subscripts stand for several places."""
    return any(isinstance(one.type, Arr) or is_box(one, "list") for one in places)


def taken(program: Arrays, owner: Value, places: list[Value], node: ast.AST) -> Value:
    """What is there, as an array of its own."""
    spots, rank = _spots(program, owner, places, node)
    made = array_type(owner.type.element, owner.type.rank - rank + 1)
    return program.keep(Value(made, f"gathered<{rank}>({owner.code}, {spots})"))


def put(program: Arrays, owner: Value, places: list[Value], value: Value, node: ast.AST) -> None:
    """A number at all of them, or one number of a row at each."""
    value = program.present(value)
    spots, rank = _spots(program, owner, places, node)
    if value.type is NEVER:
        return
    if value.type in NUMBERS:
        program.emit(f"put_all<{rank}>({owner.code}, {spots}, {plain(value).code});")
    elif isinstance(value.type, Arr) and value.type.rank == 1 and rank == owner.type.rank:
        program.emit(f"put_each({owner.code}, {spots}, {value.code});")
    else:
        raise refuse(node, "stores what is no row of numbers at several places")


def _spots(program: Arrays, owner: Value, places: list[Value], node: ast.AST) -> tuple[str, int]:
    """The name of how far places are from the first one, and how many dimensions they tell of."""
    given = [_as_places(program, one, node) for one in places]
    rank: Any = sum(one.type.rank if isinstance(one.type, Arr) else 1 for one in given)
    masks = [one for one in given if isinstance(one.type, Arr) and one.type.element.plain is BOOL]
    if masks and len(given) > 1:
        raise refuse(node, "has a mask beside other subscripts")
    if not masks:
        rank = len(given)
        if rank > 1 and rank != owner.type.rank:
            raise refuse(node, "has arrays for some of its subscripts")
    if rank > owner.type.rank:
        raise refuse(node, "has more subscripts than dimensions")
    name = program.fresh()
    codes = ", ".join(one.code for one in given)
    program.emit(f"Spots {name} = {'where_' if masks else 'spots_'}({owner.code}, {codes});")
    return name, rank


def _as_places(program: Arrays, value: Value, node: ast.AST) -> Value:
    value = program.keep(program.present(value))
    if is_box(value, "list") and element(value) is INT:
        program.emit(f"if (!{value.code}->n) bail(EMPTY);")
        return program.keep(Value(array_type(ELEMENTS["int64"], 1), f"array_from<I>({value.code})"))
    if not isinstance(value.type, Arr):
        if value.type is INT or PLAIN.get(value.type) is INT:
            return program.keep(Value(INT, as_int(value, node)))
        raise refuse(node, "has a subscript that is no integer")
    is_mask = value.type.element.plain is BOOL
    if value.type.element.plain in (FLOAT, MIXED) or value.type.element.dtype == "uint64":
        raise refuse(node, "has an array for a subscript that holds no places")
    if not is_mask and value.type.rank != 1:
        raise refuse(node, "has a table of places for a subscript")
    return value
