"""Subscripts with None inside of a kernel, ``x[:, None]``: what an operation reads next, with axes of one element."""

from __future__ import annotations

from collections.abc import Iterator

from looplift.emit.native_access import element, indexed
from looplift.emit.native_convert import constant
from looplift.emit.native_types import INT
from looplift.emit.native_values import Elements, Number, Value, View
from looplift.emit.native_vector_loops import elements_of_view
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Group, Operand, Slice


def has_new_axes(index: Operand) -> bool:
    """Whether a subscript has None among its parts."""
    return any(_is(part, None) for part in _parts(index))


def with_new_axes(writer: Writer, view: View, index: Operand) -> Elements:
    """The elements under a subscript with None, for the operation that takes them: nothing else may know them."""
    if view.is_list:
        raise writer.refuse("not-scalar", "a subscript with None of something that is no tensor or array")
    given = _parts(index)
    rest = Group("tuple", tuple(part for part in given if not _is(part, None)))
    found = element(writer, indexed(writer, view, rest))
    part = _elements(writer, found)
    new = set(_places_of_new(given, len(part.sizes)))
    old = iter(part.sizes)
    one = constant(1, INT)
    sizes = tuple(one if axis in new else next(old) for axis in range(len(part.sizes) + len(new)))

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        return part.at(writer, tuple(name for axis, name in enumerate(index) if axis not in new))

    writer.findings.has_vectors = True
    return Elements(sizes, part.type, at, part.origins, part.homes, is_view=True)


def _elements(writer: Writer, found: Value) -> Elements:
    if isinstance(found, View):
        return elements_of_view(writer, found)
    assert isinstance(found, Number)
    number = writer.bind(found)
    return Elements((), number.type, lambda writer, index: number, frozenset(), number.homes)


def _places_of_new(given: tuple[Operand, ...], rank: int) -> Iterator[int]:
    """Which axes of the result are new; ``rank``: how many are not."""
    place, left = 0, rank - sum(isinstance(part, Slice) for part in given)
    for part in given:
        if _is(part, None):
            yield place
        place += left if _is(part, Ellipsis) else isinstance(part, Slice) or _is(part, None)


def _parts(index: Operand) -> tuple[Operand, ...]:
    return index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)


def _is(part: Operand, value: object) -> bool:
    return isinstance(part, Const) and part.value is value
