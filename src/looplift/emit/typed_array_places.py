"""Where elements of arrays hold, and arrays as lists, in typed programs: NumPy's calls in, their types and C++ out.

rows, columns = np.where(image > 3); np.flatnonzero(row); np.argwhere(table); for row in table.tolist(): ..
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_types import NP_INT, Arr, Scalar, array_type, text_of

if TYPE_CHECKING:
    from looplift.emit.typed_array_calls import ArrayCalls

OF_PLACES = (np.nonzero, np.where, np.flatnonzero, np.argwhere)
"""Functions of one array that tell at which places its elements hold."""


def places_where(program: ArrayCalls, function: Any, owner: Value, node: ast.AST) -> Value:
    """A row of places for each dimension, in a tuple; one row, or a table with a row for each place."""
    if not isinstance(owner.type, Arr):
        raise refuse(node, "tells places of what is no array")
    rank = owner.type.rank
    if function is np.flatnonzero:
        owner, rank = program.keep(Value(array_type(owner.type.element, 1), f"all_in_rows({owner.code})")), 1
    table = array_type(NP_INT, 2)
    if function is np.argwhere:
        return program.keep(Value(table, f"turned(holding<true>({owner.code}))"))
    found = program.keep(Value(table, f"holding<false>({owner.code})"))
    rows = [Value(array_type(NP_INT, 1), f"pick<1>({found.code}, I({axis}))") for axis in range(rank)]
    rows = [program.keep(one) for one in rows]
    return rows[0] if function is np.flatnonzero else program.tuple_of(rows)


def as_lists(program: ArrayCalls, owner: Value, node: ast.AST) -> Value:
    """``a.tolist()``: a list of numbers of Python's, or lists of lists."""
    element: Scalar = owner.type.element
    box: Any = program.box(node, "list", 1, "tolist")
    program.joins.widen(box, 0, element.plain)
    for depth in range(1, owner.type.rank):
        outer: Any = program.box(node, "list", 1, f"tolist {depth}")
        program.joins.widen(outer, 0, box)
        box = outer.find()
    text = text_of(box)
    return program.keep(Value(box.find(), f"Listed<{text}>::of({owner.code})"))
