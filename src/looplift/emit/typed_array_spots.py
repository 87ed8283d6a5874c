"""Subscripts that stand for several places of arrays, in typed programs: masks and rows of places in, C++ out.

labels[labels == k] = 0; heights[np.where(steps)[0] + 1]; table[rows, columns]; table[:, chosen]; row[[2, 0]] += 1
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_scope import Value, as_int, plain, refuse
from looplift.emit.typed_types import BOOL, FLOAT, INT, MIXED, NEVER, NP_INT, NUMBERS, PLAIN, Arr, array_type

if TYPE_CHECKING:
    from looplift.emit.typed_arrays import Arrays


def are_several(places: list[Value]) -> bool:
    """Whether subscripts stand for several places."""
    return any(isinstance(one.type, Arr) or is_box(one, "list") for one in places)


def taken(program: Arrays, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST) -> Value:
    """What is there, as an array of its own."""
    owner, axis, places = _split(program, owner, parts, found, node)
    front = _fronted(program, owner, axis)
    spots, rank = _spots(program, front, axis, places, node)
    made = array_type(owner.type.element, owner.type.rank - rank + 1)
    rows = program.keep(Value(made, f"gathered<{rank}>({front.code}, {spots}, in_columns({owner.code}))"))
    return program.keep(Value(made, f"from_front<{axis}>({rows.code})")) if axis else rows


def put(program: Arrays, owner: Value, parts: list[ast.expr], found: list[Value], value: Value, node: ast.AST) -> None:
    """One value at all of them, or what an array has for each."""
    owner, axis, places = _split(program, owner, parts, found, node)
    front, value = _fronted(program, owner, axis), program.keep(program.present(value))
    spots, rank = _spots(program, front, axis, places, node)
    if value.type is NEVER:
        return
    if value.type in NUMBERS:
        program.emit(f"put_all<{rank}>({front.code}, {spots}, {plain(value).code});")
        return
    if is_box(value, "list"):
        value = program.row_of_list(value) or value
    made = owner.type.rank - rank + 1
    if not isinstance(value.type, Arr) or value.type.rank > made or (axis and value.type.rank < made):
        raise refuse(node, "stores what is neither a number nor an array of these places at several places")
    value = _fronted(program, value, axis)
    program.emit(f"put_each<{rank}>({front.code}, {spots}, {value.code});")


def _split(
    program: Arrays, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST
) -> tuple[Value, int, list[Value]]:
    """What the other subscripts leave of an array, along which of its dimensions places are, and these."""
    owner, places, axis, given = program.keep(owner), list[Value](), 0, iter(found)
    if not any(isinstance(one, ast.Slice) for one in parts):
        places = program.places_of(found)
        while not are_several(places[:1]):
            owner, places = program.keep(program.place(owner, places[:1], node)), places[1:]
        return owner, 0, places
    dimension = 0
    for part in parts:
        if isinstance(part, ast.Slice):
            owner, told = program.keep(program.cut(owner, part, given, dimension, node)), 1
        else:
            places, axis = [*places, next(given)], dimension
            told = _told_by(places[-1])
        dimension += told
    if dimension > owner.type.rank:
        raise refuse(node, "has more subscripts than dimensions")
    if len(places) != 1:
        raise refuse(node, "picks several places, and has other subscripts")
    return owner, axis, places


def _told_by(place: Value) -> int:
    """How many dimensions a subscript tells of."""
    is_mask = isinstance(place.type, Arr) and place.type.element.plain is BOOL
    return place.type.rank if is_mask else 1


def _fronted(program: Arrays, owner: Value, axis: int) -> Value:
    return program.keep(Value(owner.type, f"to_front<{axis}>({owner.code})")) if axis else owner


def _spots(program: Arrays, owner: Value, axis: int, places: list[Value], node: ast.AST) -> tuple[str, int]:
    """The name of how far places are from the first one, and how many dimensions they tell of."""
    given = [_as_places(program, one, node) for one in places]
    masks: list[Any] = [one.type for one in given if isinstance(one.type, Arr) and one.type.element.plain is BOOL]
    if masks and len(given) > 1:
        raise refuse(node, "has a mask beside other subscripts")
    rank = masks[0].rank if masks else len(given)
    if axis and rank > 1:
        raise refuse(node, "has a mask of several dimensions behind others")
    if axis + rank > owner.type.rank:
        raise refuse(node, "has more subscripts than dimensions")
    codes = ", ".join(one.code for one in given)
    text = f"{'spots_where' if masks else 'spots_at'}({owner.code}, {codes})"
    return program.keep(Value(array_type(NP_INT, 1), text)).code, rank


def _as_places(program: Arrays, value: Value, node: ast.AST) -> Value:
    value = program.keep(program.present(value))
    if is_box(value, "list"):
        cell = element(value)
        if cell is BOOL or PLAIN.get(cell, cell) is not INT:
            raise refuse(node, "has a subscript that is no list of integers")
        return program.keep(Value(array_type(NP_INT, 1), f"array_from<I>({value.code})"))
    if not isinstance(value.type, Arr):
        if value.type is INT or PLAIN.get(value.type) is INT:
            return program.keep(Value(INT, as_int(value, node)))
        raise refuse(node, "has a subscript that is no integer")
    kind = value.type.element.plain
    if kind in (FLOAT, MIXED) or (kind is not BOOL and value.type.rank != 1):
        raise refuse(node, "has a subscript that is neither a mask nor a row of integers")
    return value
