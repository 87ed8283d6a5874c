"""Stores into elements and whole rows of arrays and lists."""

from __future__ import annotations

import numpy as np
import torch

from looplift.base.data import replace
from looplift.emit import native_power, native_vectors
from looplift.emit.native_access import element, indexed
from looplift.emit.native_allocation import view_text
from looplift.emit.native_convert import BEYOND_SINGLE, convert, to_python
from looplift.emit.native_gather import by_positions, is_short, scattered
from looplift.emit.native_mixed import are_mixed, note, widens
from looplift.emit.native_ops import CHOICE, COMPARE
from looplift.emit.native_scalar import elementwise
from looplift.emit.native_types import INT, MIXED, Scalar
from looplift.emit.native_values import Elements, Items, Number, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Let, Slice, Store


def store(writer: Writer, statement: Store) -> None:
    ref = writer.value(statement.ref)
    writer.hint, writer.current = statement.ref.hint, None
    if not isinstance(ref, View):
        raise writer.refuse("not-scalar", f"'{statement.ref.hint}' is no tensor or array")
    if ref.is_list and isinstance(statement.index, Slice):
        raise writer.refuse("not-scalar", "a store of more than a single element")
    if statement.method:
        _check_method(writer, statement, ref)
    if not statement.method and (found := by_positions(writer, ref, statement.index)) is not None:
        _store_by_positions(writer, statement, *found)
        return
    target = writer.promoted.get((statement.ref, statement.index))
    target = target or element(writer, indexed(writer, ref, statement.index))
    if isinstance(target, View) and not target.is_list:
        _store_whole(writer, statement, target)
        return
    if not isinstance(target, Number) or target.origin is None:
        raise writer.refuse("not-scalar", "a store of more than a single element")
    writer.changes(target.origin)
    value = writer.number(statement.value)
    if ref.is_list and (value.type != target.type or value.other is not None):
        if statement.combine is None:
            if widens(writer, ref, value.type) or writer.provisional:
                return
            if value.other is not None or not (target.type == MIXED and are_mixed(value.type, MIXED)):
                raise writer.refuse("mixed-kinds", f"'{statement.ref.hint}' takes a value of another kind")
    if statement.combine is None:
        if value.other is not None and _tells_numbers(value, target.type):
            raise writer.refuse("mixed-kinds", "a stored variable is sometimes a number and sometimes a tensor")
        value = _held(writer, replace(value, other=None), target.type)
        writer.line(f"{target.place} = {_fitting(writer, value, target.type).text};")
    else:
        writer.before_change(statement, target)
        writer.storing = statement
        combine(writer, target.place, target, statement.combine, value, exact=ref.is_list, single=True)
        writer.storing = None


def _check_method(writer: Writer, statement: Store, ref: View) -> None:
    """``x[i].fill_(v)`` is ``x[i] = v`` for tensors, and for values that the method takes."""
    value = writer.value(statement.value)
    family = value.type.family if isinstance(value, Number | View | Elements) else ""
    is_taken = isinstance(value, Number) if statement.method == "fill_" else True
    is_taken = family == "tensor" if statement.method == "copy_" else is_taken and family in ("tensor", "python")
    if ref.is_list or ref.type.family != "tensor" or not is_taken:
        raise writer.refuse("effect-order", f"'.{statement.method}(...)' of an item of '{statement.ref.hint}'")


def _store_whole(writer: Writer, statement: Store, target: View) -> None:
    """``x[i] = row`` and ``x[i] += row``."""
    value = writer.value(statement.value)
    if isinstance(value, Items) and target.type.family == "numpy" and statement.combine is None:
        _store_items(writer, target, value)
        return
    if target.origin is None or statement.combine not in (None, "add", "sub", "mul", "truediv"):
        raise writer.refuse("not-scalar", "a store of more than a single element")
    is_array = isinstance(value, View | Elements) and value.type.family == "numpy"
    if is_array and target.type.family == "tensor" and statement.combine is None:
        raise writer.refuse("requirement", "a tensor takes no NumPy array")
    _check_overlap(writer, target, value, statement.combine)
    writer.changes(target.origin)

    def put(place: Number, number: Number) -> None:
        if statement.combine is None:
            number = _held(writer, number, target.type, whole=True) if isinstance(value, Number) else number
            writer.line(f"{place.place} = {_fitting(writer, number, target.type).text};")
        else:
            combine(writer, place.place, place, statement.combine, number)

    native_vectors.store(writer, target, value, put)


def _store_items(writer: Writer, target: View, value: Items) -> None:
    """``x[i] = [a, b]``: each number in its place."""
    numbers = [writer.bind(item) for item in value.items if isinstance(item, Number) and item.other is None]
    if target.rank != 1 or len(numbers) < len(value.items) or target.origin is None:
        raise writer.refuse("not-scalar", "a list of something else than numbers is stored into an array")
    (size,) = native_vectors.elements_of_view(writer, target).sizes
    writer.fail_if(f"{size.at(COMPARE)} != {len(numbers)}", "broken_requirement")
    writer.changes(target.origin)
    for position, number in enumerate(numbers):
        indices = tuple(str(position) if known is None else known for known in target.indices)
        place = element(writer, replace(target, indices=indices))
        assert isinstance(place, Number)
        number = _held(writer, number, target.type)
        writer.line(f"{place.place} = {_fitting(writer, number, target.type).text};")


def _store_by_positions(writer: Writer, statement: Store, left: View, axis: int, vector: Elements) -> None:
    """``x[positions] = rows``, one row after the other: the last of those that meet in one place stays."""
    value = writer.value(statement.value)
    if statement.combine is not None or left.origin is None:
        raise writer.refuse("not-scalar", "an update of elements by a vector of positions")
    if left.type.family == "tensor" and not is_short(vector):
        raise writer.refuse("order", "a store of PyTorch's by a vector of positions, which may repeat")
    if left.type.family == "tensor" and isinstance(value, View | Number):
        if value.origin is left.origin:
            raise writer.refuse("aliasing", f"a part of '{writer.hint}' is stored into '{writer.hint}' itself")
        _require_apart(writer, left, value, "set")
    part = native_vectors.kept(writer, value)
    vector = vector if vector.type.is_python else native_vectors.kept(writer, vector)
    by_row = len(part.sizes) == left.rank
    if axis or len(part.sizes) > left.rank or (part.sizes and part.type != left.type):
        raise writer.refuse("not-scalar", "a store by a vector of positions of what has another shape")
    if by_row and part.sizes[0].text != vector.sizes[0].text:
        writer.fail_if(f"{part.sizes[0].at(COMPARE)} != {vector.sizes[0].at(COMPARE)}", "broken_requirement")
    writer.changes(left.origin)

    def put(place: Number, number: Number) -> None:
        number = _held(writer, number, left.type, whole=True) if isinstance(value, Number) else number
        writer.line(f"{place.place} = {_fitting(writer, number, left.type).text};")

    def store(target: View, k: str) -> None:
        def row(writer: Writer, index: tuple[str, ...]) -> Number:
            return part.at(writer, (k, *index) if by_row else index)

        if target.rank:
            rest = part.sizes[1:] if by_row else part.sizes
            native_vectors.store(writer, target, replace(part, sizes=rest, at=row), put)
        else:
            place = element(writer, target)
            assert isinstance(place, Number)
            put(place, row(writer, ()))

    scattered(writer, left, vector, store)


def _check_overlap(writer: Writer, target: View, value: object, short: str | None) -> None:
    """PyTorch refuses to store what overlaps in part with its place, or reads what it has just written."""
    if target.type.family != "tensor" or not isinstance(value, View | Number):
        return
    if isinstance(value, Number) and value.alias and value.origin is None:
        raise writer.refuse("aliasing", "one of several elements")
    if value.origin is not target.origin:
        _require_apart(writer, target, value, short)
        return
    if isinstance(value, View):
        free = [[index is None for index in view.indices] for view in (target, value)]
        alike = free[0] == free[1] and not (target.is_part or value.is_part)
        if alike and not writer.findings.is_apart(target.origin):
            writer.fail_if(f"meets_itself({target.root})", "aliased")
    elif short is not None and value.place:
        writer.fail_if(f"holds({view_text(target)}, &{value.place})", "aliased")
        return
    else:
        alike = short is None
    if not alike:
        raise writer.refuse("aliasing", f"a part of '{writer.hint}' is stored into '{writer.hint}' itself")


def _require_apart(writer: Writer, target: View, value: View | Number, short: str | None) -> None:
    """Two arguments may be parts of one memory: the loop runs then."""
    findings = writer.findings
    if any(var is None or findings.is_apart(var) for var in (target.origin, value.origin)):
        return
    if isinstance(value, View):
        writer.fail_if(f"overlap({target.root}, {value.root})", "aliased")
    elif short is not None and value.place:
        writer.fail_if(f"holds({target.root}, &{value.place})", "aliased")


def combine(
    writer: Writer, place: str, old: Number, short: str, value: Number, *, exact: bool = False, single: bool = False
) -> None:
    """``place (op)= value``; ``exact``: the place is of a list, which takes numbers of any kind; ``single``: the
    result is a number of its own before it is stored."""
    number = operated(writer, short, old, value)
    if old.type.family == "tensor" and not _takes_result(old.type, number.type):
        raise writer.refuse("requirement", f"a tensor of {old.type.name} is changed in place by {number.type.name}")
    if not single and old.type.family == "numpy" and not _takes_in_place(old.type, number.type):
        raise writer.refuse("requirement", f"an array of {old.type.name} is changed in place by {number.type.name}")
    if (exact or old.type.is_python) and number.type != old.type:
        if are_mixed(old.type, number.type) and writer.findings.mixes and note(writer, old.origin):
            return
    if (exact or old.type.is_python) and number.type != old.type and old.type != MIXED:
        raise writer.refuse("mixed-kinds", "a list takes a value of another kind")
    number = _held(writer, number, old.type) if single else number
    text = _fitting(writer, number, old.type).text
    symbol = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.get(short)
    start = f"{place} {symbol} "
    if symbol in ("+", "*", "-", "/") and text.startswith(start) and number.level < CHOICE:
        operand = text.removeprefix(start)
        if operand.replace("_", "").replace(".", "").isalnum():
            writer.line(f"{place} {symbol}= {operand};")
            return
    writer.line(f"{place} = {text};")


def _takes_result(held: Scalar, given: Scalar) -> bool:
    """Whether PyTorch casts the result of an update back: not from floats to integers, nor from these to booleans."""
    return torch.can_cast(getattr(torch, given.name), getattr(torch, held.name))


def _takes_in_place(held: Scalar, given: Scalar) -> bool:
    """Whether NumPy puts the result of an update of a row, unlike that of one item, back into the row."""
    return np.can_cast(given.name, held.name, casting="same_kind")


def operated(writer: Writer, short: str, old: Number, value: Number) -> Number:
    if short == "pow":
        return native_power.power(writer, "", [old, value])
    return elementwise(writer, "", short, [old, value])


def _tells_numbers(value: Number, scalar: Scalar) -> bool:
    """Whether an element of this type is another for a number of Python's than for the tensor that is meant: numbers
    that do not fit raise."""
    if value.rounded and (scalar.is_integer or value.type.name != scalar.name):
        return True
    return value.other == INT and scalar.is_integer and scalar.size < value.type.size


def _fitting(writer: Writer, value: Number, scalar: Scalar) -> Number:
    """The value as an element of this type; a number that does not fit is an error or a warning."""
    narrower = value.type.is_float and scalar.is_float and value.type.size > scalar.size
    large = value.constant is None or abs(value.constant) >= BEYOND_SINGLE
    if narrower and large and (scalar.family == "numpy" or value.type.is_python):
        value = writer.bind(value) if value.constant is None else value
        converted = convert(writer, value, scalar)
        outcome = "warned" if scalar.family == "numpy" else "bad_conversion"
        writer.fail_if(f"surprising({converted.text}, {value.text})", outcome)
        return converted
    return convert(writer, value, scalar)


def _held(writer: Writer, value: Number, scalar: Scalar, *, whole: bool = False) -> Number:
    """A single integer of NumPy's, which raises where the array's type does not hold it; those of rows wrap.

    ``whole``: a row takes it.
    """
    if scalar.family == "tensor" and value.type.family == "numpy":
        return _of_numpy(writer, value)
    if scalar.family == "numpy" and value.type.family == "tensor" and not whole:
        value = convert(writer, value, INT) if scalar.is_integer else value
        return to_python(writer, value)
    source = value.type
    if source.family != "numpy" or not source.is_integer or scalar.family != "numpy" or not scalar.is_integer:
        return value
    low, high = scalar.limits
    tests = [f"< {low}"] if source.limits[0] < low else []
    tests += [f"> {high}"] if source.limits[1] > high else []
    if tests:
        value = writer.bind(value)
        writer.fail_if(" || ".join(f"{value.text} {test}" for test in tests), "bad_conversion")
    return value


def _of_numpy(writer: Writer, value: Number) -> Number:
    """An element of a NumPy array where PyTorch takes a number of Python's: those that are one, and integers."""
    if not value.type.is_integer and value.type.name != "float64":
        raise writer.refuse("requirement", f"a tensor takes no element of a NumPy array of {value.type.name}")
    return to_python(writer, value)


def whole_in_place(writer: Writer, statement: Let, whole: View) -> View:
    """``x += value`` of a whole array."""
    short = statement.op.name.removeprefix("inplace.")
    value = writer.operand(statement.op.args[1])
    wide = isinstance(value, Number | View | Elements) and value.type.is_float
    if not whole.type.is_float and (wide or short == "truediv"):
        raise writer.refuse("mixed-kinds", f"'{writer.hint}' holds no floats, and cannot take them in place")
    _check_overlap(writer, whole, value, short)
    assert whole.origin is not None
    writer.findings.updates.add(statement.var)
    writer.changes(whole.origin)
    native_vectors.store(writer, whole, value, lambda old, number: combine(writer, old.place, old, short, number))
    return whole
