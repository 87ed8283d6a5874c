"""Subscripts that are masks, or lists and rows of places, in typed programs: NumPy's values in, types and C++ out.

x[x > 0]; table[[2, 0, 1]]; table[:, chosen]; scores[done] = -1.0
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_scope import Value, plain, refuse
from looplift.emit.typed_types import BOOL, INT, NP_BOOL, NP_INT, NUMBERS, PLAIN, Arr, array_type


def picks(type_: Any) -> bool:
    """Whether a subscript of this type stands for several places."""
    return isinstance(type_, Arr) or is_box(Value(type_, ""), "list")


def places_in(writer: Any, value: Value, node: ast.AST) -> Value:
    """A row of places, or an array of truth values."""
    if is_box(value, "list"):
        cell = element(value)
        if cell is BOOL or PLAIN.get(cell, cell) is not INT:
            raise refuse(node, "has a subscript that is no list of integers")
        value = writer.keep(value)
        return writer.keep(Value(array_type(NP_INT, 1), f"array_from<I>({value.code})"))
    one = value.type.element
    if one is not NP_BOOL and (one.plain is not INT or value.type.rank != 1):
        raise refuse(node, "has a subscript that is neither a mask nor a row of integers")
    return writer.keep(value)


def picked(writer: Any, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST) -> Value:
    """What stands at several places: a copy."""
    owner, parts, found = _within(writer, owner, parts, found, node)
    axis, given = _where(parts, found, node)
    owner, places = writer.keep(owner), places_in(writer, given, node)
    rank = owner.type.rank
    if places.type.element is NP_BOOL:
        if axis or places.type.rank not in (1, rank):
            raise refuse(node, "has a mask of some dimensions")
        if places.type.rank == rank:
            return writer.keep(Value(array_type(owner.type.element, 1), f"where_true({owner.code}, {places.code})"))
        places = writer.keep(Value(array_type(NP_INT, 1), f"true_places({places.code}, {owner.code}.size[0])"))
    if axis >= rank:
        raise refuse(node, "has more subscripts than dimensions")
    return writer.keep(Value(owner.type, f"taken_along<{axis}>({owner.code}, {places.code})"))


def put_picked(
    writer: Any, owner: Value, parts: list[ast.expr], found: list[Value], value: Value, node: ast.AST
) -> None:
    """A number at several places of a row, or where a mask holds, or a row's elements there."""
    owner, parts, found = _within(writer, owner, parts, found, node)
    axis, given = _where(parts, found, node)
    owner, places, value = writer.keep(owner), places_in(writer, given, node), writer.keep(writer.present(value))
    is_mask = places.type.element is NP_BOOL
    if axis or owner.type.rank != (places.type.rank if is_mask else 1):
        raise refuse(node, "stores at several places of some dimensions")
    name = "put_where" if is_mask else "put_along"
    if value.type in NUMBERS:
        writer.emit(f"{name}({owner.code}, {places.code}, {plain(value).code});")
        return
    if is_box(value, "list"):
        value = writer.row_of_list(value) or value
    if not isinstance(value.type, Arr) or value.type.rank != 1:
        raise refuse(node, "stores what is neither a number nor a row at several places")
    writer.emit(f"{name}_each({owner.code}, {places.code}, {value.code});")


def _within(
    writer: Any, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST
) -> tuple[Value, list[ast.expr], list[Value]]:
    """Of ``table[i, places]`` and ``table[i][places]`` the row ``table[i]``, and what is left."""
    leading = found[:-1]
    if not leading or any(isinstance(one, ast.Slice) for one in parts) or any(picks(one.type) for one in leading):
        return owner, parts, found
    return writer.keep(writer.place(writer.keep(owner), leading, node)), parts[-1:], found[-1:]


def _where(parts: list[ast.expr], found: list[Value], node: ast.AST) -> tuple[int, Value]:
    """Along which dimension places are picked, and the places; all of the other dimensions are taken whole."""
    given = [one for one in found if picks(one.type)]
    plain = [one for one in parts if isinstance(one, ast.Slice)]
    if len(found) != 1 or len(given) != 1 or any((one.lower, one.upper, one.step) != (None,) * 3 for one in plain):
        raise refuse(node, "picks several places, and has other subscripts")
    axis = next((k for k, one in enumerate(parts) if not isinstance(one, ast.Slice)), 0)
    return axis, given[0]
