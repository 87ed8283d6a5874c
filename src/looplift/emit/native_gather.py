"""Subscripts by vectors of positions, or by masks, inside of a kernel: what is read is a copy, stores go in order."""

from __future__ import annotations

from collections.abc import Callable

from looplift.base.data import replace
from looplift.emit.native_access import indexed, position
from looplift.emit.native_allocation import allocate, sizes_of
from looplift.emit.native_convert import constant, convert
from looplift.emit.native_ops import COMPARE
from looplift.emit.native_types import INT
from looplift.emit.native_values import Elements, Items, Number, View
from looplift.emit.native_vector_loops import FEW, elements_of_view, materialized, over
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Group, Operand, Slice

_EVERYTHING = Slice(Const(None), Const(None), Const(None))


def by_positions(writer: Writer, view: View, index: Operand) -> tuple[View, int, Elements] | None:
    """What is left of an array by its other indices, the axis of it that is subscripted by a vector, and the vector.

    None where no index is a vector of integers or a mask.
    """
    if view.is_list or not view.rank:
        return None
    given = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    vectors = [_vector(writer, view, part, axis) for axis, part in enumerate(given)]
    (found, *more) = [k for k, vector in enumerate(vectors) if vector is not None] or [None]
    if found is None:
        return None
    others = [part for k, part in enumerate(given) if k != found]
    slices = [isinstance(part, Slice) for part in others]
    if more or (any(slices) and not all(slices)) or any(_is_const(part, None, Ellipsis) for part in others):
        raise writer.refuse("not-scalar", "a subscript by several vectors, or by a vector, slices and integers")
    rest = tuple(_EVERYTHING if k == found else part for k, part in enumerate(given))
    left = indexed(writer, view, Group("tuple", rest))
    vector = vectors[found]
    assert vector is not None
    writer.findings.has_vectors = True
    return left, found if any(slices) else 0, vector


def _is_const(part: Operand, *values: object) -> bool:
    return isinstance(part, Const) and any(part.value is value for value in values)


def _vector(writer: Writer, view: View, part: Operand, axis: int) -> Elements | None:
    """An index as a vector of integers, which keeps its numbers whatever is stored; None if it is none."""
    if isinstance(part, Slice | Const):
        return None
    if isinstance(part, Group):
        return _of_items(writer, Items(tuple(map(writer.operand, part.items)))) if part.kind == "list" else None
    match writer.operand(part):
        case Items(is_list=True) as items:
            return _of_items(writer, items)
        case Elements() as vector if vector.type.is_bool:
            return _of_mask(writer, view, vector, axis)
        case Elements() as vector:
            return _of_integers(writer, view, elements_of_view(writer, materialized(writer, vector)))
        case View() as vector if vector.rank and vector.type.is_bool:
            return _of_mask(writer, view, elements_of_view(writer, vector), axis)
        case View() as vector if vector.rank:
            return _of_integers(writer, view, elements_of_view(writer, vector))
    return None


def _of_mask(writer: Writer, view: View, mask: Elements, axis: int) -> Elements:
    """The positions where a mask holds, which is as long as the axis that it subscripts."""
    if len(mask.sizes) != 1 or mask.type.family not in (view.type.family, "python") or axis >= view.rank:
        raise writer.refuse("not-scalar", "a subscript by a mask of several dimensions, or of another library")
    size = f"{view.root}.size[{view.axes[axis]}]"
    (length,) = mask.sizes
    writer.fail_if(f"{length.at(COMPARE)} != {size}", "index_out_of_range")
    places = allocate(writer, INT, [length], "places")
    count = writer.fresh("count")
    writer.line(f"int64_t {count} = 0;")

    def keep(index: tuple[str, ...]) -> None:
        with writer.block(f"if ({mask.at(writer, index).text})"):
            writer.line(f"{places.root}({count}++) = {index[0]};")

    over(writer, mask.sizes, keep)
    held = writer.bind(Number(count, INT, low=0), "held")
    return Elements((held,), INT, lambda writer, index: Number(f"{places.root}({index[0]})", INT, low=0))


def _of_integers(writer: Writer, view: View, vector: Elements) -> Elements:
    scalar = vector.type
    known = scalar.is_integer and not scalar.is_bool and scalar.name not in ("uint8", "uint64")
    if len(vector.sizes) != 1 or not known or scalar.family not in (view.type.family, "python"):
        raise writer.refuse("not-scalar", "a subscript that is no vector of integers")
    return vector


def _of_items(writer: Writer, items: Items) -> Elements:
    numbers = [item for item in items.items if isinstance(item, Number)]
    plain = all(n.type.is_integer and not n.type.is_bool and not (n.other or n.bound) for n in numbers)
    if not numbers or len(numbers) < len(items.items) or not plain or any(n.type.name == "uint64" for n in numbers):
        raise writer.refuse("not-scalar", "a subscript by a list of other things than integers")
    table = writer.fresh("table")
    texts = ", ".join(convert(writer, number, INT).text for number in numbers)
    writer.line(f"const int64_t {table}[] = {{{texts}}};")
    return Elements((constant(len(numbers), INT),), INT, lambda writer, index: Number(f"{table}[{index[0]}]", INT))


def gathered(writer: Writer, view: View, axis: int, vector: Elements) -> View:
    """``x[positions]``: a copy, as in Python."""
    sizes = sizes_of(writer, view)
    others = (*sizes[:axis], *sizes[axis + 1 :])
    made = allocate(writer, view.type, [*sizes[:axis], vector.sizes[0], *sizes[axis + 1 :]])
    source = elements_of_view(writer, view)

    def row(index: tuple[str, ...]) -> None:
        where = _place(writer, view, axis, vector, index)

        def item(rest: tuple[str, ...]) -> None:
            number = source.at(writer, (*rest[:axis], where, *rest[axis:]))
            writer.line(f"{made.root}({', '.join((*rest[:axis], index[0], *rest[axis:]))}) = {number.text};")

        over(writer, others, item)

    over(writer, (vector.sizes[0],), row)
    return made


def _place(writer: Writer, view: View, axis: int, vector: Elements, index: tuple[str, ...]) -> str:
    size = f"{view.root}.size[{view.axes[axis]}]"
    return writer.bind(position(writer, vector.at(writer, index), size), "place").text


def is_short(vector: Elements) -> bool:
    """Whether a vector is a list of so few positions that a library takes them in order."""
    size = vector.sizes[0].constant
    return vector.type.is_python and size is not None and size <= FEW


def scattered(writer: Writer, view: View, vector: Elements, store: Callable[[View, str], None]) -> None:
    """``x[positions] = ...``: ``store(row, k)`` writes the k-th row, in order; no position is outside of the array."""

    def check(index: tuple[str, ...]) -> None:
        _place(writer, view, 0, vector, index)

    def body(index: tuple[str, ...]) -> None:
        indices = list(view.indices)
        indices[view.axes[0]] = _place(writer, view, 0, vector, index)
        store(replace(view, indices=tuple(indices)), index[0])

    over(writer, vector.sizes, check)
    over(writer, vector.sizes, body)
