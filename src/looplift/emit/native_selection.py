"""Medians, sorting and searching in a kernel: elements in, a number or an array out."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit.native_allocation import allocate, view_text
from looplift.emit.native_convert import convert
from looplift.emit.native_numpy import count_of, floating_of, is_nan
from looplift.emit.native_ops import ADD, MULTIPLY
from looplift.emit.native_types import INT, MIXED, Scalar, common_type
from looplift.emit.native_values import Elements, Number, View
from looplift.emit.native_vector_loops import elements_of_view, materialized, over
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Op


def median(writer: Writer, part: Elements, *, skips: bool) -> Number:
    """The middle of the numbers, or the mean of the two in the middle; NaN if one is, unless it ``skips`` them."""
    result = floating_of(part.type)
    capacity = writer.bind(Number(count_of(part), INT, 2, low=0, high=2**47), "capacity")
    room = writer.bind(Number(f"3 * {capacity.at(MULTIPLY)}", INT, MULTIPLY, low=0, high=2**47), "room")
    values, count, undefined = allocate(writer, part.type, [room], "values"), writer.fresh("count"), ""
    if part.type.is_float and not skips:
        undefined = writer.fresh("undefined")
        writer.line(f"bool {undefined} = false;")
    writer.line(f"int64_t {count} = 0;")

    def body(index: tuple[str, ...]) -> None:
        number = writer.bind(part.at(writer, index))
        if undefined:
            writer.line(f"{undefined} |= {is_nan(number)};")
        writer.line(f"{values.root}.data[{count}] = {number.text};")
        counted = f"{number.text} == {number.text}" if part.type.is_float and skips else "1"
        writer.line(f"{count} += {counted};")

    over(writer, part.sizes, body)
    writer.fail_if(f"{count} == 0", "warned")
    found = _middle(writer, values, capacity.at(ADD), count, result, undefined)
    return Number(found, result)


def _middle(writer: Writer, values: View, capacity: str, count: str, result: Scalar, undefined: str) -> str:
    """The name of the number in the middle of ``count`` values."""
    scalar = values.type
    found, middle, data = writer.fresh("median"), writer.fresh("middle"), f"{values.root}.data"
    start = '__builtin_nan("")' if undefined else "0"
    writer.line(f"{result.cpp} {found} = {start};")
    with writer.block(f"if (!{undefined})" if undefined else ""):
        writer.line(f"const {scalar.cpp} {middle} = middle_number({data}, {data} + {capacity}, {count}, {count} / 2);")
        writer.line(f"{found} = 0 + {result.cpp}({middle});")
        with writer.block(f"if ({count} % 2 == 0)"):
            below, smaller = writer.fresh("below"), writer.fresh("smaller_ones")
            writer.line(f"{scalar.cpp} {below} = {data}[0];")
            writer.line(f"int64_t {smaller} = 0;")
            with writer.block(f"for (int64_t k = 0; k < {count}; ++k)"):
                writer.line(f"const bool is_smaller = {data}[k] < {middle};")
                writer.line(f"{below} = is_smaller && (!{smaller} || {data}[k] > {below}) ? {data}[k] : {below};")
                writer.line(f"{smaller} += is_smaller;")
            writer.line(f"if ({smaller} < {count} / 2) {below} = {middle};")
            upper = writer.fresh("upper")
            writer.line(f"const {result.cpp} {upper} = {found};")
            writer.line(f"{found} = (0 + ({result.cpp}({below}) + {upper})) / 2;")
            writer.fail_if(f"surprising({found}, {below}, {upper})", "warned")
    return found


def ordered(writer: Writer, op: Op, part: Elements) -> View:
    """``np.sort(x)`` of one dimension."""
    if op.kwargs or len(op.args) > 1 or len(part.sizes) != 1 or part.type.family != "numpy":
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    made = materialized(writer, part)
    _sort(writer, made)
    return made


def in_order(writer: Writer, items: View, *, backwards: bool) -> View:
    """``sorted(items)`` of a list of numbers: a new list, of numbers of the same kind."""
    if items.rank != 1 or items.type.family == "tensor" or items.type.is_bool or items.type == MIXED:
        raise writer.refuse("not-scalar", "'sorted' of something else than numbers")
    made = materialized(writer, elements_of_view(writer, items))
    data, size = f"{made.root}.data", f"{made.root}.size[0]"
    _sort(writer, made)
    if items.type.is_float:  # Python compares, and leaves what is not a number where it happens to be
        writer.fail_if(f"{size} > 0 && {data}[{size} - 1] != {data}[{size} - 1]", "not_exact")
    if backwards:
        k, last = writer.fresh("place"), writer.fresh("last")
        with writer.block(f"for (int64_t {k} = 0; {k} < {size} / 2; ++{k})"):
            writer.line(f"const {made.type.cpp} {last} = {data}[{size} - 1 - {k}];")
            writer.line(f"{data}[{size} - 1 - {k}] = {data}[{k}];")
            writer.line(f"{data}[{k}] = {last};")
    return replace(made, holds_objects=items.holds_objects or items.type.family == "numpy")


def _sort(writer: Writer, made: View) -> None:
    data, size = f"{made.root}.data", f"{made.root}.size[0]"
    writer.line(f"sort({data}, {size});")
    if made.type.is_float:  # zeros of both signs are equal, and stand in an order of the library's own
        mixed, k = writer.fresh("has_both_zeros"), writer.fresh("place")
        writer.line(f"bool {mixed} = false;")
        with writer.block(f"for (int64_t {k} = 1; {k} < {size}; ++{k})"):
            signs = f"math::signbit({data}[{k}]) != math::signbit({data}[{k} - 1])"
            writer.line(f"{mixed} |= {data}[{k}] == 0 && {data}[{k} - 1] == 0 && {signs};")
        writer.fail_if(mixed, "not_exact")


def searched(writer: Writer, op: Op) -> Number | None:
    """``np.searchsorted(values, x)`` of one number."""
    values, key = (writer.operand(argument) for argument in op.args[:2])
    side = dict(op.kwargs).get("side", op.args[2] if len(op.args) == 3 else Const("left"))
    if len(op.args) > 3 or set(dict(op.kwargs)) - {"side"} or not isinstance(side, Const):
        return None
    if not isinstance(values, View) or values.rank != 1 or not isinstance(key, Number) or values.is_list:
        return None
    common = common_type(values.type, key.type)
    if common != values.type or key.other is not None or values.type.family != "numpy" or side.value not in _SIDES:
        return None
    key = convert(writer, replace(key, alias=False), values.type)
    found = writer.fresh("found")
    right = "true" if side.value == "right" else "false"
    writer.line(f"const int64_t {found} = search<{right}, {values.type.cpp}>({view_text(values)}, {key.text});")
    return Number(found, Scalar("numpy", "int64"), low=0, high=2**47)


_SIDES = ("left", "right")
