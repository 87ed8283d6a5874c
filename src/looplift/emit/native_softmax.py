"""Softmax, its logarithm, and the logarithm of a sum of exponentials along an axis, inside of a kernel."""

from __future__ import annotations

from looplift.emit.native_allocation import allocate
from looplift.emit.native_ops import ADD, COMPARE
from looplift.emit.native_reductions import axes_of
from looplift.emit.native_values import Elements, Number, Value, View
from looplift.emit.native_vector_loops import over
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Op

SOFTMAX = ("softmax", "log_softmax", "logsumexp")


def softmax(writer: Writer, short: str, op: Op, part: Elements) -> Value:
    """``exp(x - max(x))``, divided by its sum, or the logarithms of both."""
    axes, keeps = axes_of(writer, op, len(part.sizes))
    if axes is None or len(axes) != 1 or keeps or not part.type.is_float or part.type.is_half:
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    (axis,) = axes
    outer = (*part.sizes[:axis], *part.sizes[axis + 1 :])
    writer.findings.has_vectors = True
    writer.differs(short)
    if short == "logsumexp":
        return _logarithms(writer, part, axis, outer)
    made = allocate(writer, part.type, list(part.sizes))
    over(writer, outer, lambda index: _shares(writer, short, part, made, axis, index))
    return made


def _row(part: Elements, axis: int, index: tuple[str, ...]) -> Elements:
    """One row along the axis."""

    def at(writer: Writer, inner: tuple[str, ...]) -> Number:
        return part.at(writer, (*index[:axis], *inner, *index[axis:]))

    return Elements((part.sizes[axis],), part.type, at, part.origins, part.homes)


def _greatest(writer: Writer, row: Elements) -> str:
    """The greatest element, NaN aside, which makes the sum NaN."""
    top, scalar = writer.fresh("largest"), row.type.cpp
    writer.line(f"{scalar} {top} = {scalar}(-__builtin_inf());")

    def body(index: tuple[str, ...]) -> None:
        number = writer.bind(row.at(writer, index))
        writer.line(f"{top} = {number.text} > {top} ? {number.text} : {top};")

    over(writer, row.sizes, body, folds=f"max : {top}")
    return top


def _shares(writer: Writer, short: str, part: Elements, made: View, axis: int, index: tuple[str, ...]) -> None:
    """One row of a softmax, or of its logarithm."""
    row, scalar = _row(part, axis, index), part.type.cpp
    top, total = _greatest(writer, row), writer.fresh("total")
    writer.line(f"double {total} = 0;")

    def place(inner: tuple[str, ...]) -> str:
        return f"{made.root}({', '.join((*index[:axis], *inner, *index[axis:]))})"

    def add(inner: tuple[str, ...]) -> None:
        power = writer.fresh("power")
        shifted = f"{row.at(writer, inner).at(ADD)} - {top}"
        writer.line(f"const {scalar} {power} = simd::exp({scalar}({shifted}));")
        writer.line(f"{total} += {power};")
        writer.line(f"{place(inner)} = {power if short == 'softmax' else shifted};")

    over(writer, row.sizes, add, folds=f"+ : {total}")
    last = f"{total}" if short == "softmax" else f"simd::log({scalar}({total}))"
    whole = writer.bind(Number(f"{scalar}({last})", part.type), "total")
    sign = "/" if short == "softmax" else "-"
    over(writer, row.sizes, lambda inner: writer.line(f"{place(inner)} = {place(inner)} {sign} {whole.text};"))


def _logarithms(writer: Writer, part: Elements, axis: int, outer: tuple[Number, ...]) -> Value:
    if not outer:
        return _logarithm(writer, _row(part, axis, ()))
    made = allocate(writer, part.type, list(outer))

    def put(index: tuple[str, ...]) -> None:
        found = _logarithm(writer, _row(part, axis, index))
        writer.line(f"{made.root}({', '.join(index)}) = {found.text};")

    over(writer, outer, put)
    return made


def _logarithm(writer: Writer, row: Elements) -> Number:
    """The logarithm of the sum of the exponentials of one row."""
    for size in row.sizes:
        writer.fail_if(f"{size.at(COMPARE)} == 0", "broken_requirement")
    scalar, top, total = row.type.cpp, _greatest(writer, row), writer.fresh("total")
    writer.line(f"if (!math::isfinite({top})) {top} = 0;")
    writer.line(f"double {total} = 0;")

    def add(inner: tuple[str, ...]) -> None:
        shifted = f"{row.at(writer, inner).at(ADD)} - {top}"
        writer.line(f"{total} += simd::exp({scalar}({shifted}));")

    over(writer, row.sizes, add, folds=f"+ : {total}")
    return writer.bind(Number(f"{top} + simd::log({scalar}({total}))", row.type), "logarithm")
