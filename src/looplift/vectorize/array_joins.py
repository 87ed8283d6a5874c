"""Forms of NumPy's functions that join arrays, cut them, put items in or take them out: see ``array_forms``."""

from __future__ import annotations

import itertools
from typing import Any

from looplift.base.data import replace
from looplift.ir.array import Node, anew, merge_axes
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    UNKNOWN,
    Call,
    Form,
    Made,
    array_of,
    constant,
    is_array,
    is_integer,
    negative_axis,
    tree,
    with_dims,
)
from looplift.vectorize.held import check_number
from looplift.vectorize.subscripts import Cut, Piece, Whole, extent_of


def _join(call: Call, items: list[Node], join: str, dim: int) -> Made:
    """Values of one dtype, that of the result, one after the other."""
    dtype = call.fact.kind.dtype
    parts = [nodes.cast(item, dtype) for item in items]
    axes = merge_axes(*(part.axes for part in parts))
    return Node("join", tuple(parts), axes, call.fact.kind, {"join": join, "dim": dim, "extents": None})


def _vector(node: Any, dtype: Any) -> Node | None:
    """A vector as it is, a number as one of length one."""
    if isinstance(node, list) or not (node.kind.is_array or node.kind.is_number) or node.kind.rank > 1:
        return None
    if node.kind.rank:
        return node
    return with_dims(replace_family(nodes.cast(node, dtype)), -1)


def replace_family(node: Node) -> Node:
    kind = replace(node.kind, family="numpy") if node.kind.rank == 0 else node.kind
    return anew(node, kind=kind)


def _appended(call: Call) -> Made:
    if call.const("axis") not in (None, 0) or call.fact.kind.rank != 1:
        return None
    parts = [_vector(call.get(name, []), call.fact.kind.dtype) for name in ("arr", "values")]
    return None if None in parts else _join(call, [part for part in parts if part is not None], "cat", -1)


def _inserted(call: Call) -> Made:
    """At one known place."""
    from looplift.vectorize.indexing import read_pieces

    x, place = call.get("arr"), call.const("obj", UNKNOWN)
    if not is_array(x, 1) or type(place) is not int or call.const("axis") not in (None, 0, -1):
        return None
    value = call.get("values")
    if isinstance(value, list) or value.kind.rank or (made := _vector(value, x.kind.dtype)) is None:
        return None
    check_number(call.context, value, x.kind.dtype)
    extent = extent_of(x, 0)
    call.context.check_at_most(nodes.const(place if place >= 0 else -place), extent)
    at = nodes.const(place)
    parts = [Cut(None, at, None), Cut(at, None, None)]
    before, after = (read_pieces(call.context, x, [part], call.fact.kind) for part in parts)
    return _join(call, [before, made, after], "cat", -1)


def _deleted(call: Call) -> Made:
    x, places = call.first, call.const("obj", UNKNOWN)
    axis = negative_axis(call.const("axis", 0 if x.kind.rank == 1 else UNKNOWN), x.kind.rank)
    if call.const("axis", 0) is None and x.kind.rank == 1:
        axis = -1
    numbers = places if isinstance(places, list | tuple) else [places]
    if axis is None or not numbers or not all(type(number) is int for number in numbers):
        return None
    return call.made(f"np.delete({{x}}, {places}, axis={axis})", {"x": x})


def _subscripted(call: Call) -> Made:
    """``np.r_[a, 1.0]``: vectors and numbers in a row; ``np.c_[a, b]``: vectors as columns, beside matrices."""
    items, dtype = call.first, call.fact.kind.dtype
    if not isinstance(items, list) or any(isinstance(item, list) for item in items):
        return None
    if call.name.startswith("np.r_"):
        for item in items:
            check_number(call.context, item, dtype)
        parts = [_vector(item, dtype) for item in items]
        made = [part for part in parts if part is not None]
        return _join(call, made, "cat", -1) if len(made) == len(items) and call.fact.kind.rank == 1 else None
    if any(not is_array(item) or not 1 <= item.kind.rank <= 2 for item in items):
        return None
    return _join(call, [with_dims(item, -1) if item.kind.rank == 1 else item for item in items], "cat", -1)


def _powers(call: Call) -> Made:
    """Powers of each item, in a row."""
    count, increasing = call.get("N"), call.const("increasing", False)
    if call.first.kind.rank != 1 or count is None or not is_integer(count) or not isinstance(increasing, bool):
        return None
    text = f"powers_of_rows({{x}}, {{n}}, {increasing})"
    return call.made(text, {"x": call.first, "n": count}, need=["powers_of_rows"])


def _columns(call: Call) -> Made:
    items = call.first
    if not isinstance(items, list) or not items or any(isinstance(item, list) for item in items):
        return None
    ranks = {item.kind.rank for item in items}
    if call.name.endswith("column_stack") and ranks == {1}:
        return _join(call, items, "stack", -1)
    if call.name.endswith("column_stack") and ranks == {2}:
        return _join(call, items, "cat", -1)
    return _join(call, items, "stack", -1) if call.name.endswith("dstack") and ranks == {2} else None


def _split(call: Call) -> Made:
    """In equal parts, or at known places, of the first dimension or another one."""
    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.nodes import Val

    x, rank = call.first, call.first.kind.rank
    inner = call.name.endswith("hsplit") and rank > 1
    axis = negative_axis(call.const("axis", 1 if inner else 0), rank)
    given = tree(call.get("indices_or_sections", nodes.const(None)))
    if axis is None or not isinstance(call.fact.sample, list):
        return None
    extent = extent_of(x, axis + rank)
    if isinstance(given, list):
        if not all(is_integer(one) for one in given):
            return None
        bounds: list[Node | None] = [None, *given, None]
    else:
        count = constant(given)
        if type(count) is not int or count < 1:
            return None
        size = nodes.elementwise("floordiv", [extent, nodes.const(count)], nodes.INT)
        call.context.check(nodes.compare("eq", nodes.elementwise("mul", [size, given], nodes.INT), extent))
        bounds = [nodes.times(size, k) for k in range(count + 1)]
    made = []
    for lo, hi in itertools.pairwise(bounds):
        pieces: list[Piece] = [Whole() for _ in range(rank)]
        pieces[axis] = Cut(lo, hi, None)
        made.append(read_pieces(call.context, x, pieces, array_of(call, x.kind.dtype, rank)))
    node = Node("display", tuple(made), x.axes, call.fact.kind, {"kind": "list"})
    return Val(node, items=[Val(item) for item in made])


FORMS: dict[str, tuple[str, Form]] = {
    "append": ("arr values axis", _appended), "insert": ("arr obj values axis", _inserted),
    "delete": ("arr obj axis", _deleted), "r_.__getitem__": ("key", _subscripted),
    "c_.__getitem__": ("key", _subscripted), "column_stack": ("tup", _columns), "dstack": ("tup", _columns),
    "split": ("ary indices_or_sections axis", _split), "vsplit": ("ary indices_or_sections", _split),
    "hsplit": ("ary indices_or_sections", _split), "vander": ("x N increasing", _powers),
}  # fmt: skip
