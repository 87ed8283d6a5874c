"""Folds along one dimension of a table, and other shapes of arrays, in typed programs: NumPy's calls in, C++ out.

np.sum(table, axis=1); table.argmin(0); np.stack(rows, axis=2); np.concatenate(rows); x.reshape(h, -1); np.delete(x, i)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from looplift.emit.typed_arrays import element_text, is_array
from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_scope import Value, as_int, as_size, refuse
from looplift.emit.typed_types import ELEMENTS, FLOAT, INT, NEVER, NP_BOOL, NP_FLOAT, NP_INT, PLAIN, Scalar, array_type

if TYPE_CHECKING:
    from looplift.emit.typed_array_calls import ArrayCalls


def dimension(node: ast.expr | None, rank: int, call: ast.AST) -> int | None:
    """The dimension that an argument names, which is a literal; None stands for all."""
    if node is None:
        return None
    try:
        axis = ast.literal_eval(node)
    except ValueError:
        raise refuse(call, "names a dimension that is computed") from None
    if axis is None:
        return None
    if type(axis) is not int or not -rank <= axis < rank:
        raise refuse(call, "names a dimension that is not there")
    return axis % rank


def fold(program: ArrayCalls, name: str, value: Value, given: dict[str, ast.expr], node: ast.AST) -> Value:
    """``np.sum(table, axis=1, keepdims=True)``."""
    if value.type is NEVER:
        return value
    keeps = given.get("keepdims", ast.Constant(False))
    if not isinstance(keeps, ast.Constant) or type(keeps.value) is not bool:
        raise refuse(node, "is called in a way of its own")
    axis = dimension(given.get("axis"), value.type.rank, node)
    if not keeps.value and (axis is None or value.type.rank == 1):
        return program.fold_of_all(name, value, node)
    if axis is None or value.type.rank != 2:
        raise refuse(node, "folds what is no table")
    value = program.keep(value)
    found = program.keep(_along(program, name, value, axis, node))
    if keeps.value:
        return program.keep(Value(array_type(found.type.element, 2), f"kept_along<{axis}>({found.code})"))
    return found


def _along(program: ArrayCalls, name: str, value: Value, axis: int, node: ast.AST) -> Value:
    one: Scalar = value.type.element
    if name == "mean" and one is NP_FLOAT:
        program.emit(f"if (!{value.code}.size[{axis}]) bail(EMPTY);")
        total = program.keep(_along(program, "sum", value, axis, node))
        return program.each("over", [total, Value(FLOAT, f"F({value.code}.size[{axis}])")], node)
    if name == "sum" and one.plain is FLOAT:
        return Value(array_type(one, 1), f"sums_along<{axis}>({value.code})")
    made, fold = _FOLDS.get(name, (None, ""))
    if made is None:
        raise refuse(node, "has no form in a typed program")
    if name == "sum":
        made = ELEMENTS["uint64"] if one.dtype.startswith("u") else NP_INT
    made = made or one
    if name in _OF_SOME:
        program.emit(f"if (!{value.code}.size[{axis}]) bail(EMPTY);")
    function = f"[](const Arr<{element_text(value.type)}, 1>& a) {{ return ({made.storage}){fold}(a); }}"
    return Value(array_type(made, 1), f"folded_along<{axis}, {made.storage}>({value.code}, {function})")


_SAME: Any = ()
_FOLDS: dict[str, tuple[Any, str]] = {
    "sum": (NP_INT, "sum_of_integers"), "min": (_SAME, "extreme_of<false>"), "max": (_SAME, "extreme_of<true>"),
    "argmin": (NP_INT, "place_of_extreme<false>"), "argmax": (NP_INT, "place_of_extreme<true>"),
    "any": (NP_BOOL, "any_of"), "all": (NP_BOOL, "all_true"),
}  # fmt: skip
"""The elements that a fold makes, those of the table where there are none, and what makes one of a row."""
_OF_SOME = ("min", "max", "argmin", "argmax")
"""Folds that no row without elements has."""


def stacked(program: ArrayCalls, source: Value, made: Scalar, axis: int | None) -> Value:
    """A list's arrays along a new dimension, or as rows of an array that has them in order."""
    row = element(source)
    text = f"stacked<{axis or 0}, {str(axis is None).lower()}, {made.storage}>({source.code})"
    return program.keep(Value(array_type(made, row.rank + 1), text))


def joined(program: ArrayCalls, source: Value, axis: ast.expr | None, node: ast.AST) -> Value:
    """``np.concatenate(rows)`` of a list of arrays, one behind the other."""
    source = program.keep(source)
    if not is_box(source, "list"):
        raise refuse(node, "joins what are no arrays")
    if element(source) is NEVER:
        program.emit("bail(EMPTY);")
        return Value(NEVER, "None_()")
    if not is_array(Value(element(source), "")):
        raise refuse(node, "joins what are no arrays")
    place = dimension(axis, element(source).rank, node) if axis is not None else 0
    if place is None:
        raise refuse(node, "joins all elements of arrays")
    return program.keep(Value(element(source), f"joined<{place}>({source.code})"))


def reshaped(program: ArrayCalls, owner: Value, sizes: list[ast.expr], node: ast.AST) -> Value:
    """``x.reshape(rows, -1)``: the same elements in other dimensions."""
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    owner = program.keep(owner)
    places = program.places_of(program.several(*sizes))
    if not 1 <= len(places) <= 4:
        raise refuse(node, "has no dimension, or too many")
    shape = program.fresh()
    program.emit(f"I {shape}[] = {{{', '.join(as_size(one, node) for one in places)}}};")
    made = array_type(owner.type.element, len(places))
    return program.keep(Value(made, f"reshaped<{len(places)}>({owner.code}, {shape})"))


def without_place(program: ArrayCalls, given: dict[str, ast.expr], node: ast.AST) -> Value:
    """``np.delete(x, i, axis=0)``: a copy without what stands at one place."""
    if "arr" not in given or "obj" not in given:
        raise refuse(node, "is called in a way of its own")
    owner, place = program.several(given["arr"], given["obj"])
    owner, place = program.keep(program.present(owner)), program.keep(program.present(place))
    if NEVER in (owner.type, place.type):
        return Value(NEVER, "None_()")
    is_place = place.type is INT or (PLAIN.get(place.type) is INT)
    if not is_array(owner) or not is_place:
        raise refuse(node, "leaves out other elements than that at one place")
    axis = dimension(given.get("axis"), owner.type.rank, node)
    if axis is None and owner.type.rank > 1:
        raise refuse(node, "leaves out an element of a table")
    return program.keep(Value(owner.type, f"without<{axis or 0}>({owner.code}, {as_int(place, node)})"))
