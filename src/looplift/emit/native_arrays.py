"""Arrays and lists that a kernel makes, and names that hold one array after another."""

from __future__ import annotations

import sys
from typing import Any

from looplift.base.data import replace
from looplift.emit import native_handed
from looplift.emit.native_allocation import allocate, copied, sizes_of, view_text
from looplift.emit.native_convert import constant, convert, convert_held
from looplift.emit.native_mixed import are_mixed, copy_line
from looplift.emit.native_ops import ADD, COMPARE, MULTIPLY
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, Scalar, floating, scalar_of
from looplift.emit.native_values import Elements, Fixed, Items, Number, Steps, Value, View, plain
from looplift.emit.native_writer import Writer
from looplift.ir.facts import Kind
from looplift.ir.grammar import Const, Op, Operand
from looplift.ops.names import said

CREATION = {"zeros": 0, "ones": 1, "empty": None, "full": None}


def array_of(writer: Writer, namespace: str, short: str, op: Op) -> View | Elements | None:
    """The array that an operation makes; None if it makes none."""
    if namespace in ("torch", "np"):
        if short in CREATION and not _is_scalar(writer, op):
            return _created(writer, namespace, short, op)
        if short.endswith("_like") and short.removesuffix("_like") in CREATION:
            return _created_like(writer, namespace, short.removesuffix("_like"), op)
        if short == "arange":
            return _arange(writer, namespace, op)
        if short == "linspace" and namespace == "np":
            return _linspace(writer, op)
    if short in ("copy", "clone") and namespace in ("method", "np", "torch") and len(op.args) == 1 and not op.kwargs:
        value = writer.operand(op.args[0])
        if isinstance(value, View) and value.is_list and (namespace, short) != ("method", "copy"):
            raise writer.refuse(
                "requirement", f"'{said(op.name)}' of a list, which is none of Python's methods of lists"
            )
        return copied(writer, value) if isinstance(value, View) and value.rank else None
    if op.name == "builtin.list" and len(op.args) == 1:
        return _listed(writer, op)
    if namespace == "" and short in ("mul", "add") and len(op.args) == 2:
        return _list_operator(writer, short, op)
    return None


def _is_scalar(writer: Writer, op: Op) -> bool:
    return len(op.args) > 0 and writer.operand(op.args[0]) == Items(())


# ---------------------------------------------------------------- functions of torch and NumPy


def _created(writer: Writer, namespace: str, short: str, op: Op) -> View | Elements:
    keywords = dict(op.kwargs)
    args = list(op.args)
    value: Number | None = None
    if short == "full" and len(args) == 3 and namespace == "np":
        keywords["dtype"] = args.pop()
    if short == "full":
        filling = args.pop() if len(args) == 2 else keywords.pop("fill_value", None)
        if filling is None:
            raise writer.refuse("unknown-op", "'full' without a number to fill with")
        value = writer.number(filling)
    elif CREATION[short] is not None:
        value = constant(CREATION[short] or 0, INT)
    if "size" in keywords or "shape" in keywords:
        args.insert(0, keywords.pop("size", None) or keywords.pop("shape"))
    if len(args) == 2 and namespace == "np" and short != "full":
        keywords["dtype"] = args.pop()
    default = _default_type(namespace, value if short == "full" else None)
    scalar = element_type(writer, namespace, keywords.pop("dtype", None)) or default
    _only_defaults(writer, op, keywords)
    # what np.empty holds is nobody's to rely on: zeros
    return _filled(writer, scalar, _shape(writer, args), value or constant(0, INT))


def _filled(writer: Writer, scalar: Scalar, sizes: list[Number], value: Number) -> View | Elements:
    """An array of one number everywhere; it needs no memory where an operation uses it up."""
    if scalar.family == "tensor":
        value = convert_held(writer, value, scalar)
    if not writer.fleeting:
        return allocate(writer, scalar, sizes, filling=value)
    number = plain(convert(writer, writer.bind(value), scalar))
    return Elements(tuple(sizes), scalar, lambda writer, index: number, homes=number.homes)


def _default_type(namespace: str, value: Number | None) -> Scalar:
    family = "tensor" if namespace == "torch" else "numpy"
    if value is None or (value.type.is_python and value.type.is_float):
        return floating(Scalar("tensor", "int64")) if namespace == "torch" else Scalar("numpy", "float64")
    return value.type.of_family(family)


def _created_like(writer: Writer, namespace: str, short: str, op: Op) -> View | Elements | None:
    owner = writer.operand(op.args[0])
    if not isinstance(owner, View) or owner.rank == 0 or owner.is_list:
        return None
    keywords = dict(op.kwargs)
    names = (["fill_value"] if short == "full" else []) + (["dtype"] if namespace == "np" else [])
    if len(op.args) > 1 + len(names):
        raise writer.refuse("unknown-op", f"'{short}_like' with these arguments")
    keywords |= dict(zip(names, op.args[1:], strict=False))
    value = writer.number(keywords.pop("fill_value")) if "fill_value" in keywords else None
    if short == "full" and value is None:
        raise writer.refuse("unknown-op", "'full_like' without a number to fill with")
    scalar = element_type(writer, namespace, keywords.pop("dtype", None)) or owner.type
    _only_defaults(writer, op, keywords)
    return _filled(writer, scalar, sizes_of(writer, owner), value or constant(CREATION[short] or 0, INT))


def _arange(writer: Writer, namespace: str, op: Op) -> View:
    keywords = dict(op.kwargs)
    bounds = [writer.number(argument) for argument in op.args]
    if not 1 <= len(bounds) <= 2 or any(bound.type.is_float or not bound.type.is_python for bound in bounds):
        raise writer.refuse("unknown-op", "these arguments of 'arange' have no scalar form")
    scalar = element_type(writer, namespace, keywords.pop("dtype", None))
    _only_defaults(writer, op, keywords)
    scalar = scalar or Scalar("tensor" if namespace == "torch" else "numpy", "int64")
    return _counted(writer, scalar, bounds)


def _linspace(writer: Writer, op: Op) -> View:
    """``np.linspace(first, last, count)``: products with the step, added to the first, and the last as it is given."""
    keywords, double = dict(op.kwargs), Scalar("numpy", "float64")
    given = [writer.number(argument) for argument in op.args]
    if "num" in keywords:
        given.append(writer.number(keywords.pop("num")))
    scalar = element_type(writer, "np", keywords.pop("dtype", None)) or double
    _only_defaults(writer, op, keywords)
    known = all(one.other is None and not one.bound and not one.type.is_bool for one in given)
    numbers = known and all(one.type.is_python or one.type == double for one in given[:2])
    if not numbers or len(given) != 3 or scalar != double or given[2].type != INT:
        raise writer.refuse("unknown-op", "these arguments of 'linspace' have no scalar form")
    first, last = (writer.bind(convert(writer, one, double), name) for one, name in zip(given, ("first", "last")))
    count = writer.bind(given[2], "count")
    span = writer.bind(Number(f"{last.at(ADD)} - {first.at(ADD, strict=True)}", double, ADD), "span")
    writer.fail_if(f"!math::isfinite({span.text})", "broken_requirement")  # of which NumPy warns
    view = allocate(writer, double, [count])
    gaps, step, index = map(writer.fresh, ("gaps", "step", "k"))
    writer.line(f"const int64_t {gaps} = {count.at(ADD)} - 1;")
    writer.line(f"const double {step} = {gaps} > 0 ? {span.text} / {gaps} : {span.text};")
    with writer.block(f"for (int64_t {index} = 0; {index} < {count.text}; ++{index})"):
        share = f"({gaps} > 0 && {step} == 0 ? double({index}) / {gaps} * {span.text} : {index} * {step})"
        writer.line(f"{view.root}({index}) = {share} + {first.text};")
    writer.line(f"if ({gaps} > 0) {view.root}({gaps}) = {last.text};")
    return view


def _counted(writer: Writer, scalar: Scalar, bounds: list[Number]) -> View:
    """``first, first + 1, ...`` up to a limit."""
    first, limit = ([constant(0, INT)] * (2 - len(bounds)) + [convert(writer, bound, INT) for bound in bounds])[:2]
    first, limit = writer.bind(first, "first"), writer.bind(limit, "limit")
    length = f"{limit.text} > {first.text} ? {limit.at(ADD)} - {first.at(ADD, strict=True)} : 0"
    count = writer.bind(Number(length, INT, 12, low=0, high=2**47, homes=first.homes | limit.homes), "count")
    view = allocate(writer, scalar, [count])
    index = writer.fresh("k")
    value = index if first.constant == 0 else f"{first.at(ADD)} + {index}"
    with writer.block(f"for (int64_t {index} = 0; {index} < {count.text}; ++{index})"):
        writer.line(f"{view.root}({index}) = {scalar.cpp}({value});")
    return view


def _only_defaults(writer: Writer, op: Op, keywords: dict[str, Operand]) -> None:
    for name, operand in keywords.items():
        plain = isinstance(operand, Const) and operand.value in (None, False)
        here = (
            name == "device" and isinstance(found := writer.operand(operand), Fixed) and is_memory(found.value, writer)
        )
        if name not in ("device", "requires_grad", "pin_memory") or not (plain or here):
            raise writer.refuse("unknown-op", f"the argument '{name}' of '{op.name}' has no scalar form")


def is_memory(device: Any, writer: Writer) -> bool:
    """Whether a device is the one that the kernel runs on."""
    import torch

    here = writer.device
    return device in (None, "cpu", torch.device("cpu")) if here is None else device in (str(here), here)


def _shape(writer: Writer, args: list[Operand]) -> list[Number]:
    values: list[Value] = [writer.operand(argument) for argument in args]
    if len(values) == 1 and isinstance(values[0], Items):
        values = list(values[0].items)
    sizes: list[Number] = []
    for value in values:
        if not isinstance(value, Number) or not value.type.is_integer or value.other is not None or value.bound:
            raise writer.refuse("not-scalar", "a shape that is not made of integers")
        sizes.append(writer.bind(convert(writer, value, INT), "size"))
    if not sizes:
        raise writer.refuse("not-scalar", "an array without a shape")
    return sizes


def element_type(writer: Writer, namespace: str, operand: Operand | None) -> Scalar | None:
    """The type that a ``dtype`` argument names; None where it is absent."""
    value = writer.operand(operand) if operand is not None else Fixed(None)
    if not isinstance(value, Fixed):
        raise writer.refuse("unknown-op", "a dtype that is not known before the loop runs")
    if value.value is None:
        return None
    found = scalar_of(_kind_of_dtype(namespace, value.value))
    if found is None:
        raise writer.refuse("unknown-op", f"arrays of '{value.value}' have no scalar form")
    return found


def _kind_of_dtype(namespace: str, value: Any) -> Kind:
    import numpy as np
    import torch

    if namespace == "torch":
        python = {float: torch.float64, int: torch.int64, bool: torch.bool}
        return Kind("tensor", python.get(value, value))
    try:
        return Kind("array", np.dtype(value))
    except TypeError:
        return Kind("object")


# ---------------------------------------------------------------- lists


def _listed(writer: Writer, op: Op) -> View | None:
    """``list(range(n))`` and ``list(other)``."""
    value = writer.operand(op.args[0])
    if isinstance(value, Steps):
        return _counted(writer, INT, [value.first, value.limit])
    if isinstance(value, View) and value.rank == 1 and value.is_list:
        return copied(writer, value)
    return None


def list_of_array(writer: Writer, view: View) -> View:
    """``x.tolist()``: the numbers of a tensor or array as Python's."""
    if view.type.name == "uint64":
        raise writer.refuse("integer-range", "a list of integers that may be beyond 64 bits")
    scalar = FLOAT if view.type.is_float else BOOL if view.type.is_bool else INT
    source = view_text(view)
    made = allocate(writer, scalar, sizes_of(writer, view))
    writer.line(copy_line(made.root, source, scalar, made.type))
    return made


def range_of(writer: Writer, op: Op) -> Steps:
    """``range(n)`` outside of a ``for``."""
    bounds = [writer.number(argument) for argument in op.args]
    of_numpy = any(bound.type.is_bool and bound.type.family == "numpy" for bound in bounds)
    if len(bounds) > 2 or of_numpy or any(bound.type.is_float or bound.other is not None for bound in bounds):
        raise writer.refuse("not-scalar", "a range with a step as a value")
    return Steps(*([constant(0, INT)] * (2 - len(bounds)) + bounds))


def _list_operator(writer: Writer, short: str, op: Op) -> View | None:
    """``[0] * n`` and ``[1] + rest``."""
    first, second = (writer.operand(argument) for argument in op.args)
    if not (_is_list(first) or _is_list(second)):
        return None
    if short == "mul":
        pattern, times = (first, second) if _is_list(first) else (second, first)
        if isinstance(times, Number) and times.type in (INT, BOOL):
            return _repeated(writer, pattern, convert(writer, times, INT))
        raise writer.refuse("not-scalar", "a list times something that is no integer")
    return _concatenated(writer, flat_list(writer, first), flat_list(writer, second))


def _is_list(value: Value) -> bool:
    return isinstance(value, Items) or (isinstance(value, View) and value.is_list and value.rank == 1)


def as_list(writer: Writer, value: Value) -> View:
    """A list of numbers that is known item by item as an array."""
    if isinstance(value, View) and value.is_list and value.rank == 1:
        return value
    if not isinstance(value, Items) or not value.items:
        raise writer.refuse("not-scalar", "a list of something else than numbers of one kind")
    if all(isinstance(item, Items | View) for item in value.items):
        return _list_of_rows(writer, value.items)
    numbers = [item for item in value.items if isinstance(item, Number)]
    types = {number.type for number in numbers}
    plain = all(not (n.other or n.bound or n.alias) for n in numbers)
    scalar = MIXED if writer.findings.mixes and are_mixed(*types) else numbers[0].type if len(types) == 1 else None
    if len(numbers) < len(value.items) or scalar is None or not plain or scalar.family == "tensor":
        raise writer.refuse("mixed-kinds", "a list of different kinds of values")
    view = list_of(writer, scalar, constant(len(numbers), INT))
    for position, number in enumerate(numbers):
        text = number.text if number.type == view.type else convert(writer, number, view.type).text
        writer.line(f"{view.root}({position}) = {text};")
    return view


def flat_list(writer: Writer, value: Value) -> View:
    """The same of a list without rows: one that is repeated or joined is one object in several places."""
    view = as_list(writer, value)
    if view.rank != 1:
        raise writer.refuse("aliasing", "a list of lists that is repeated or joined")
    return view


def _list_of_rows(writer: Writer, items: tuple[Value, ...]) -> View:
    """A list of lists of one length, each of which was made for it."""
    if any(isinstance(item, View) and not _is_only_item(writer, item) for item in items):
        raise writer.refuse("aliasing", "a list of lists that are known under other names")
    rows = [as_list(writer, item) for item in items]
    if len({(row.type, row.rank) for row in rows}) > 1 or not rows[0].is_list or rows[0].holds_objects:
        raise writer.refuse("mixed-kinds", "a list of lists of different kinds")
    for row in rows[1:]:
        writer.fail_if(f"{row.size(0)} != {rows[0].size(0)}", "broken_requirement")
    made = allocate(writer, rows[0].type, [constant(len(rows), INT), *sizes_of(writer, rows[0])])
    for position, row in enumerate(rows):
        writer.line(copy_line(f"row_at<0>({made.root}, {position})", view_text(row), row.type, made.type))
    return made


def _is_only_item(writer: Writer, row: View) -> bool:
    """Whether a list is made for another one, which is all that knows it."""
    is_whole = not row.is_part and not row.homes and row.rank == len(row.indices)
    return is_whole and row.origin in writer.findings.made and native_handed.is_handed_over(writer, row)


def list_of(writer: Writer, scalar: Scalar, length: Number) -> View:
    """A list of so many numbers of one type, which are not set yet."""
    return replace(allocate(writer, scalar, [length]), holds_objects=not scalar.is_python)


def _repeated(writer: Writer, pattern: Value, times: Number) -> View:
    text = f"{times.at(COMPARE)} > 0 ? {times.text} : 0" if times.low < 0 else times.text
    level = 12 if times.low < 0 else times.level
    count = writer.bind(replace(times, text=text, level=level, low=0, high=2**47, constant=None), "count")
    if isinstance(pattern, Items) and len(pattern.items) == 1 and isinstance(pattern.items[0], Number):
        number = pattern.items[0]
        if not number.type.is_python or number.other is not None or number.bound:
            raise writer.refuse("mixed-kinds", "a list of different kinds of values")
        return allocate(writer, number.type, [count], filling=number)
    whole = flat_list(writer, pattern)
    length = f"{whole.size(0)} * {count.at(MULTIPLY, strict=True)}"
    view = list_of(writer, whole.type, Number(length, INT, MULTIPLY, low=0, high=2**47))
    index = writer.fresh("k")
    with writer.block(f"for (int64_t {index} = 0; {index} < {view.size(0)}; ++{index})"):
        item = Number(element_text(whole, f"{index} % {whole.size(0)}"), whole.type)
        item = item if item.type == view.type else convert(writer, item, view.type)
        writer.line(f"{view.root}({index}) = {item.text};")
    return view


def element_text(view: View, index: str) -> str:
    return f"{view.root}({', '.join(index if known is None else known for known in view.indices)})"


def _concatenated(writer: Writer, first: View, second: View) -> View:
    scalar = MIXED if writer.findings.mixes and are_mixed(first.type, second.type) else first.type
    if scalar != MIXED and first.type != second.type:
        raise writer.refuse("mixed-kinds", "a list of different kinds of values")
    length = Number(f"{first.size(0)} + {second.size(0)}", INT, ADD, low=0, high=2**47)
    view = list_of(writer, scalar, length)
    writer.line(copy_line(view.root, view_text(first), first.type, view.type))
    tail = f"cut<0>({view.root}, {first.size(0)}, {view.root}.size[0], 1)"
    writer.line(copy_line(tail, view_text(second), second.type, view.type))
    return view


def over_items(writer: Writer, short: str, view: View) -> Number:
    """``min(values)``, ``max(values)`` and ``sum(values)`` of Python, item by item."""
    if view.type.family == "tensor":
        raise writer.refuse("not-scalar", f"'{short}' over the elements of a tensor")
    if short == "sum":
        return _sum_of_items(writer, view)
    writer.fail_if(f"{view.size(0)} == 0", "broken_requirement")
    best, index = writer.fresh("largest" if short == "max" else "smallest"), writer.fresh("k")
    writer.line(f"{view.type.cpp} {best} = {element_text(view, '0')};")
    item, symbol = element_text(view, index), ">" if short == "max" else "<"
    with writer.block(f"for (int64_t {index} = 1; {index} < {view.size(0)}; ++{index})"):
        writer.line(f"if ({item} {symbol} {best}) {best} = {item};")
    return Number(best, view.type)


def _sum_of_items(writer: Writer, view: View) -> Number:
    if (
        view.type == MIXED
        or not view.type.is_python
        or view.type.is_bool
        or (view.type.is_float and sys.version_info >= (3, 12))
    ):
        raise writer.refuse("not-scalar", "'sum' over these items")
    total, index = writer.fresh("total"), writer.fresh("k")
    writer.line(f"{view.type.cpp} {total} = 0;")
    if view.type.is_float:
        writer.fail_if(f"{view.size(0)} == 0", "another_kind")
    item = element_text(view, index)
    with writer.block(f"for (int64_t {index} = 0; {index} < {view.size(0)}; ++{index})"):
        if view.type.is_float:
            writer.line(f"{total} += {item};")
        else:
            writer.fail_if(f"__builtin_add_overflow({total}, {item}, &{total})", "integer_overflow")
    return Number(total, view.type)
