"""Numbers and arrays between two bounds, inside of a kernel."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit import native_mixed, native_scalar
from looplift.emit.native_types import MIXED
from looplift.emit.native_values import Elements, Number
from looplift.emit.native_vector_loops import type_of
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Op, Operand

Bounds = tuple["Number | None", "Number | None"]


def number(writer: Writer, op: Op) -> Number:
    """``torch.clamp`` or ``np.clip`` of a number."""
    argument = _number_or_none(writer, op.args[0])
    if argument is None:
        raise writer.refuse("unknown-op", "these arguments of 'clamp' have no scalar form")
    return native_scalar.clamp(writer, argument, *_bounds(writer, op))


def elements(writer: Writer, op: Op, part: Elements) -> Elements:
    """The same of each element, between bounds that are numbers."""
    low, high = (_held(writer, bound) for bound in _bounds(writer, op))

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        return native_scalar.clamp(writer, part.at(writer, index), low, high)

    return replace(part, type=type_of(writer, at, len(part.sizes)), at=at)


def _bounds(writer: Writer, op: Op) -> Bounds:
    given = [_number_or_none(writer, operand) for operand in op.args[1:]]
    named = {name: _number_or_none(writer, operand) for name, operand in op.kwargs}
    low = given[0] if given else named.get("min")
    high = given[1] if len(given) > 1 else named.get("max")
    if set(named) - {"min", "max"}:
        raise writer.refuse("unknown-op", "these arguments of 'clamp' have no scalar form")
    if {bound.type.family for bound in (low, high) if bound is not None} == {"python", "tensor"}:
        raise writer.refuse(
            "requirement", "a tensor as a bound of 'clamp' beside a number raises where it has a gradient"
        )
    return low, high


def _held(writer: Writer, bound: Number | None) -> Number | None:
    """A bound that each element is compared with."""
    if bound is None:
        return None
    if not bound.type.is_python or bound.other is not None:
        raise writer.refuse("mixed-kinds", "an array between bounds that are no numbers of Python's")
    return writer.bind(native_mixed.as_float(bound) if bound.type == MIXED else bound)


def _number_or_none(writer: Writer, operand: Operand) -> Number | None:
    return None if isinstance(operand, Const) and operand.value is None else writer.number(operand)
