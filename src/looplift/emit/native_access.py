"""Subscripts: elements and views of tensors, with their range checks; tuples and lists known item by item."""

from __future__ import annotations

from itertools import accumulate

from looplift.base.data import replace
from looplift.emit.native_convert import convert, to_python
from looplift.emit.native_mixed import as_integer
from looplift.emit.native_ops import ADD, ATOM, COMPARE, MULTIPLY
from looplift.emit.native_types import INT, Scalar
from looplift.emit.native_values import LEAST, Fixed, Items, Number, Rows, Unknown, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Group, Operand, Slice


def getitem(writer: Writer, ref: Value, index: Operand) -> Value:
    """``ref[index]``."""
    match ref:
        case View() if ref.is_list and isinstance(index, Slice):
            from looplift.emit.native_allocation import copied

            return copied(writer, indexed(writer, ref, index))
        case View():
            return element(writer, indexed(writer, ref, index))
        case Items(items=items):
            return _item(writer, items, index)
        case Rows():
            return _row(writer, ref.root, ref.type, position(writer, _index(writer, index), f"{ref.root}.size[0]"))
    raise writer.refuse("not-scalar", "a subscript of something that is no tensor, array or tuple")


def _row(writer: Writer, rows: str, scalar: Scalar, where: Number) -> View:
    """One of several lists, under a name of its own."""
    name = writer.fresh("part")
    writer.line(f"const auto {name} = {rows}.row({where.text});")
    return View(name, scalar, (None,), homes=where.homes, is_part=True)


def _item(writer: Writer, items: tuple[Value, ...], index: Operand) -> Value:
    if isinstance(index, Const) and type(index.value) is int:
        if not -len(items) <= index.value < len(items):
            raise writer.refuse("requirement", "an index of a tuple is out of range")
        return items[index.value]
    if items and all(isinstance(item, Items) for item in items):
        return _known_row(writer, [item for item in items if isinstance(item, Items)], index)
    numbers = [item for item in items if isinstance(item, Number)]
    types = {number.type for number in numbers}
    if len(numbers) < len(items) or len(types) != 1 or any(n.other or n.bound or n.alias for n in numbers):
        raise writer.refuse("not-scalar", "a list of different kinds, subscripted by a variable")
    scalar = types.pop()
    where = position(writer, _index(writer, index), str(len(items)))
    table = writer.fresh("table")
    writer.line(f"const {scalar.cpp} {table}[] = {{{', '.join(number.text for number in numbers)}}};")
    homes = where.homes.union(*(number.homes for number in numbers))
    return Number(f"{table}[{where.text}]", scalar, homes=homes, reads=where.reads)


def _known_row(writer: Writer, rows: list[Items], index: Operand) -> View:
    """One of several lists of constants, of any lengths, that are known item by item."""
    numbers = [item for row in rows for item in row.items]
    types = {item.type for item in numbers if isinstance(item, Number) and item.constant is not None}
    if len(types) != 1 or any(not isinstance(item, Number) or item.constant is None for item in numbers):
        raise writer.refuse("not-scalar", "a list of lists that are no constants, subscripted by a variable")
    if not all(row.is_list for row in rows):
        raise writer.refuse("not-scalar", "a list of tuples, subscripted by a variable")
    scalar = types.pop()
    where = position(writer, _index(writer, index), str(len(rows)))
    table, ends = writer.fresh("table"), writer.fresh("ends")
    texts = ", ".join(item.text for item in numbers if isinstance(item, Number))
    offsets = accumulate((len(row.items) for row in rows), initial=0)
    writer.line(f"static const {scalar.cpp} {table}[] = {{{texts}}};")
    writer.line(f"static const int64_t {ends}[] = {{{', '.join(map(str, offsets))}}};")
    return _row(writer, f"Rows<const {scalar.cpp}>{{{table}, {ends}, {{{len(rows)}}}}}", scalar, where)


def indexed(writer: Writer, view: View, index: Operand) -> View:
    """The view that is left of one when its first axes are indexed."""
    given = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    if given != (index,) and _is_of_list(writer, view):
        raise writer.refuse("requirement", "a list raises TypeError for a subscript that is a tuple")
    axes = list(view.axes)
    indices, homes = list(view.indices), view.homes
    cuts: list[tuple[int, Slice]] = []
    parts = _without_ellipsis(writer, given, len(axes))
    if len(parts) < len(given) and len(parts) == len(axes) and view.type.family != "tensor":
        raise writer.refuse("not-scalar", "an element of a NumPy array as an array, by '...'")
    for part, axis in zip(parts, axes):
        if isinstance(part, Slice):
            cuts += [(axis, part)] if not _is_everything(part) else []
            continue
        where = position(writer, _index(writer, part), f"{view.root}.size[{axis}]")
        if cuts or where.homes:
            where = writer.bind(where, "index")
        indices[axis] = where.text
        homes |= where.homes
    is_shown = tuple(indices) == view.indices and not view.is_list  # as an object of its own
    whole = replace(view, indices=tuple(indices), homes=homes, is_part=view.is_part or is_shown)
    return _cut(writer, whole, [(whole.axes.index(axis), part) for axis, part in cuts]) if cuts else whole


def _is_of_list(writer: Writer, view: View) -> bool:
    """Whether what is subscripted is a list, of numbers, lists or arrays."""
    return view.is_list or (view.origin in writer.findings.items and view.indices[:1] == (None,))


def _cut(writer: Writer, view: View, cuts: list[tuple[int, Slice]]) -> View:
    """The view with some of its axes sliced, under a name of its own."""
    from looplift.emit.native_allocation import view_text
    from looplift.emit.native_items import is_reversal

    text = view_text(view)
    for axis, part in cuts:
        if is_reversal(part) and view.type.family != "tensor":
            text = f"reversed<{axis}>({text})"
            continue
        step = _bound(writer, part.step, "1")
        if step.constant is not None and step.constant < 1:
            raise writer.refuse("not-scalar", "a slice with a step that is not positive")
        if step.constant is None:
            step = writer.bind(step, "step")
            writer.fail_if(f"{step.text} < 1 || {step.text} > {2**40}", "broken_requirement")
        lo, hi = _bound(writer, part.lo, "0"), _bound(writer, part.hi, str(2**62))
        text = f"cut<{axis}>({text}, {lo.text}, {hi.text}, {step.text})"
    name = writer.fresh("part")
    writer.line(f"const auto {name} = {text};")
    return replace(view, root=name, indices=(None,) * view.rank, is_part=True)


def _bound(writer: Writer, bound: Operand, absent: str) -> Number:
    if isinstance(bound, Const) and bound.value is None:
        return Number(absent, INT, constant=int(absent))
    return convert(writer, _index(writer, bound), INT)


def _without_ellipsis(writer: Writer, parts: tuple[Operand, ...], rank: int) -> list[Operand]:
    everything = Slice(Const(None), Const(None), Const(None))
    dots = [k for k, part in enumerate(parts) if isinstance(part, Const) and part.value is Ellipsis]
    if len(dots) > 1 or len(parts) - len(dots) > rank:
        raise writer.refuse("requirement", "more indices than axes")
    if not dots:
        return list(parts)
    fill = [everything] * (rank - len(parts) + 1)
    return [*parts[: dots[0]], *fill, *parts[dots[0] + 1 :]]


def _is_everything(part: Operand) -> bool:
    if not isinstance(part, Slice):
        return False
    return all(isinstance(bound, Const) and bound.value is None for bound in (part.lo, part.hi, part.step))


def _index(writer: Writer, part: Operand) -> Number:
    if isinstance(part, Slice | Group) or (isinstance(part, Const) and type(part.value) is not int):
        raise writer.refuse("not-scalar", "a subscript that is no integer")
    number = as_integer(writer, writer.number(part))
    if number.other is not None and number.other == INT and number.type.is_integer and not number.rounded:
        number = replace(number, other=None)  # the same integer, of whatever kind
    if not number.type.is_integer or (number.type.family == "tensor" and number.type.name == "uint8"):
        raise writer.refuse("not-scalar", "a subscript that is no integer")
    if number.other is not None and (number.rounded or not number.other.is_integer):
        raise writer.refuse("mixed-kinds", "a subscript that is sometimes no integer")
    return replace(number, other=None)


def position(writer: Writer, number: Number, size: str) -> Number:
    """An index counted from the start, once it is known to lie inside."""
    if number.type.name == "uint64":  # which may be beyond what an index is
        number = to_python(writer, number)
    number = convert(writer, number, INT)
    if number.reads or (number.homes and number.level > ADD):
        number = writer.bind(number, "index")
    if writer.is_within(number, size):
        return number
    if number.low >= 0:
        return _inside(writer, number, size)
    if number.high < 0:
        text = f"{size} - {-number.constant}" if number.constant is not None else f"{size} + {number.at(ADD)}"
        return _inside(writer, replace(number, text=text, level=ADD, affine=None), size)
    if number.low == LEAST and _is_usual(writer, number, size):
        place = writer.bind(Number(f"usual_place({number.text}, {size})", INT), "index")
        writer.fail_if(f"misplaced({place.text}, {size})", "index_out_of_range")
        return place
    bound = writer.bind(Number(f"from_end({number.text}, {size})", INT, homes=number.homes), "index")
    return _inside(writer, bound, size)


def _is_usual(writer: Writer, number: Number, size: str) -> bool:
    """Whether a kernel may begin as if an index were not counted from the end, and run again with care if it is."""
    may_run_again = writer.checks and writer.settled is not None and writer.device is None
    hoist = writer.hoists[-1] if writer.hoists and may_run_again else None
    is_fixed = size.partition(".")[0] not in writer.grown
    return hoist is not None and is_fixed and hoist.takes_as_usual(number, size)


def _inside(writer: Writer, number: Number, size: str) -> Number:
    if size.isdigit() and number.high < int(size):
        return number
    condition = f"outside({number.text}, {size})"
    if writer.checks and condition not in writer.proven and writer.hoists and writer.hoists[-1] is not None:
        is_fixed = size.partition(".")[0] not in writer.grown
        if is_fixed and (earlier := writer.hoists[-1].condition(number, size)) is not None:
            writer.hoists[-1].conditions[earlier] = None
            writer.proven.add(condition)
            return number
    writer.fail_if(condition, "index_out_of_range")
    if not number.homes:
        writer.proven.add(condition)
    return number


def element(writer: Writer, view: View) -> Value:
    """A view without axes is one number: an element of a tensor stays a live view of it, one of an array is copied."""
    if view.rank:
        return view
    text = f"{view.root}({', '.join(str(index) for index in view.indices)})" if view.indices else view.root
    is_live = view.type.family == "tensor"
    return Number(text, view.type, ATOM, homes=view.homes, reads=True, alias=is_live, place=text, origin=view.origin)


def length(writer: Writer, value: Value) -> Number:
    """``len(value)``."""
    match value:
        case View() if value.rank:
            return size(writer, value, 0)
        case Rows():
            return Number(f"{value.root}.size[0]", INT, low=0, high=2**47)
        case Items(items=items):
            return Number(str(len(items)), INT, low=len(items), high=len(items), constant=len(items))
        case Unknown():
            return Number("0", INT, low=0, high=2**47)
    raise writer.refuse("not-scalar", "the length of something that is no tensor")


def size(writer: Writer, view: View, axis: int) -> Number:
    if not -view.rank <= axis < view.rank:
        raise writer.refuse("requirement", "an axis that the tensor does not have")
    return Number(view.size(axis % view.rank), INT, low=0, high=2**47)


def attribute(writer: Writer, value: Value, name: str) -> Value:
    """``value.shape`` and what else is known of a value."""
    match value, name:
        case View(), _ if value.is_list:
            raise writer.refuse("requirement", "an attribute of a list")
        case View(), "shape":
            return Items(tuple(size(writer, value, axis) for axis in range(value.rank)))
        case View(), "ndim":
            return Number(str(value.rank), INT, low=value.rank, high=value.rank, constant=value.rank)
        case View(), "T" if value.rank == 1:
            return replace(value, is_part=True)
        case View(), "T" if value.rank == 2:
            from looplift.emit.native_items import turned

            return turned(writer, value, "transposed")
        case View(), "size" if value.type.family == "numpy" and value.rank:
            sizes = (size(writer, value, axis) for axis in range(value.rank))
            return Number(" * ".join(part.text for part in sizes), INT, MULTIPLY, low=0, high=2**47, homes=value.homes)
        case Number(), "shape" if not value.type.is_python:
            return Items(())
        case ((View() | Number()), "dtype") if value.type.family == "tensor":
            import torch

            return Fixed(getattr(torch, value.type.name))
        case ((View() | Number()), "device") if value.type.family == "tensor":
            import torch

            if writer.device is not None and isinstance(value, Number):
                raise writer.refuse("unknown-op", "the device of a single number")
            return Fixed(writer.device or torch.device("cpu"))
        case ((View() | Number()), "dtype") if value.type.family == "numpy":
            import numpy as np

            return Fixed(np.dtype(value.type.name))
    raise writer.refuse("unknown-op", f"the attribute '.{name}' has no scalar form")


def unpacked(writer: Writer, value: Value, item: int, count: int) -> Value:
    """One of the names on the left of ``a, b = value``."""
    match value:
        case Items(items=items) if len(items) == count:
            return items[item]
        case View() if value.rank:
            whole = size(writer, value, 0)
            writer.fail_if(f"{whole.at(COMPARE)} != {count}", "broken_requirement")
            return element(writer, indexed(writer, value, Const(item)))
    raise writer.refuse("requirement", "a number of values that differs from the number of names")


def constant_of(writer: Writer, atom: Operand) -> int:
    if isinstance(atom, Const) and type(atom.value) is int:
        return atom.value
    raise writer.refuse("not-scalar", "an argument that must be known before the loop runs")
