"""Loops over the elements of arrays inside of a kernel, and arrays that are filled by them."""

from __future__ import annotations

from collections.abc import Callable

from looplift.base.data import replace
from looplift.emit.native_access import element
from looplift.emit.native_allocation import allocate, sizes_of
from looplift.emit.native_convert import convert
from looplift.emit.native_ops import COMPARE
from looplift.emit.native_types import Scalar
from looplift.emit.native_values import Elements, Number, View
from looplift.emit.native_writer import Writer

FEW = 16
"""So many elements at most are as good as single numbers: no library is faster."""


def elements_of_view(writer: Writer, view: View) -> Elements:
    """The elements of a view."""

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        free = iter(index)
        indices = tuple(next(free) if known is None else known for known in view.indices)
        found = element(writer, replace(view, indices=indices))
        assert isinstance(found, Number)
        return replace(found, alias=False, place="", origin=None)

    origins = frozenset({view.origin}) if view.origin is not None else frozenset()
    return Elements(tuple(sizes_of(writer, view)), view.type, at, origins, view.homes)


def type_of(writer: Writer, at: Callable, rank: int) -> Scalar:
    """The type of the elements: one is written, and the text thrown away."""
    lines, names, proven = writer.lines, set(writer.names.taken), set(writer.proven)
    writer.lines = []
    writer.hoists.append(None)
    try:
        return at(writer, ("0",) * rank).type
    finally:
        writer.hoists.pop()
        writer.lines, writer.names.taken, writer.proven = lines, names, proven


def over(
    writer: Writer,
    sizes: tuple[Number, ...],
    body: Callable[[tuple[str, ...]], None],
    *,
    sums: str = "",
    folds: str = "",
) -> None:
    """Loops over all places of an array; ``sums`` is a variable that the body only adds to, ``folds`` one with what it
    does to it, as ``max : best``."""
    folds = f"+ : {sums}" if sums else folds
    names: list[str] = []
    writer.hoists.append(None)
    writer.findings.has_rows |= any(size.constant is None or size.constant > FEW for size in sizes)

    def nest(axis: int) -> None:
        if axis == len(sizes):
            body(tuple(names))
            return
        name = writer.fresh("k")
        names.append(name)
        mark = len(writer.lines)
        with writer.block(f"for (int64_t {name} = 0; {name} < {sizes[axis].at(COMPARE)}; ++{name})"):
            nest(axis + 1)
        if folds and axis + 1 == len(sizes) and not any("return " in line for line in writer.lines[mark:]):
            writer.lines.insert(mark, "  " * writer.depth + f"#pragma omp simd reduction({folds})")

    nest(0)
    writer.hoists.pop()


def materialized(writer: Writer, value: Elements) -> View:
    """The elements in an array of their own."""
    sizes = [writer.bind(replace(size, homes=frozenset()), "size") for size in value.sizes]
    made = allocate(writer, value.type, sizes)

    def body(index: tuple[str, ...]) -> None:
        number = convert(writer, value.at(writer, index), value.type)
        writer.line(f"{made.root}({', '.join(index)}) = {number.text};")

    over(writer, value.sizes, body)
    return made


def check_zeros(writer: Writer, part: Elements, best: str) -> None:
    """Of zeros of both signs a library takes either for the greatest or smallest, by how many elements there are."""
    if not part.type.is_float:
        return
    with writer.block(f"if ({best} == 0)"):
        mixed = writer.fresh("has_both_zeros")
        writer.line(f"bool {mixed} = false;")

        def body(index: tuple[str, ...]) -> None:
            number = writer.bind(part.at(writer, index))
            writer.line(f"{mixed} |= {number.text} == 0 && math::signbit({number.text}) != math::signbit({best});")

        over(writer, part.sizes, body)
        writer.fail_if(mixed, "not_exact")
