"""One operation of the IR on values of a kernel: operators, functions of math, torch and NumPy, methods, builtins."""

from __future__ import annotations

import sys

from looplift.base.data import replace
from looplift.emit import (
    adjoint_rules,
    native_arrays,
    native_clamp,
    native_items,
    native_power,
    native_python,
    native_running,
    native_selection,
    native_stacks,
    native_vectors,
)
from looplift.emit.native_access import attribute, constant_of, getitem, length, size, unpacked
from looplift.emit.native_convert import constant, convert, convert_held, to_python, truth
from looplift.emit.native_gather import by_positions, gathered
from looplift.emit.native_mixed import are_mixed, as_mixed
from looplift.emit.native_new_axes import has_new_axes, with_new_axes
from looplift.emit.native_ops import BITS, CHOICE, COMPARISONS, CONVERSIONS, LEAK, LOGIC, TESTS, canonical, row_of
from looplift.emit.native_scalar import elementwise, invert, join_facts, negation, select
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, Scalar, common_type, exactly, floating, scalar_of
from looplift.emit.native_values import Elements, Fixed, Items, Number, Value, View, plain
from looplift.emit.native_writer import Writer
from looplift.ir.facts import Kind
from looplift.ir.grammar import Const, Group, Op, Operand, Slice
from looplift.ops.names import OTHERWISE


def compute(writer: Writer, op: Op) -> Value:
    """The value of an operation; the statements that it needs are written first."""
    namespace, short = canonical(op.name)
    if not _is_of_numbers(writer, namespace, op):
        if (made := _of_arrays(writer, namespace, short, op)) is not None:
            return made
    match op.name:
        case "builtin.range":
            return native_arrays.range_of(writer, op)
        case "getitem" if (held := writer.promoted.get((op.args[0], op.args[1]))) is not None:
            return held
        case "getitem" | "iter_item":
            owner = _held(writer, op.args[0])
            if isinstance(owner, View) and owner.origin in writer.findings.items:
                if (item := native_stacks.item_of(writer, owner, op.args[1])) is not None:
                    return item
            if isinstance(owner, View) and (found := by_positions(writer, owner, op.args[1])) is not None:
                return gathered(writer, *found)
            if isinstance(owner, View) and has_new_axes(op.args[1]):
                return with_new_axes(writer, owner, op.args[1])
            return getitem(writer, owner, op.args[1])
        case "builtin.len" | "iter_len":
            return length(writer, writer.operand(op.args[0]))
        case "attribute":
            return attribute(writer, writer.operand(op.args[0]), _text(op))
        case "unpack":
            return unpacked(
                writer,
                _held(writer, op.args[0]),
                *(constant_of(writer, a) for a in op.args[1:]),
            )
        case "tuple" | "list":
            return Items(tuple(writer.operand(argument) for argument in op.args), op.name == "list")
        case "tuple_or_none":
            there, *items = (writer.operand(argument) for argument in op.args)
            assert isinstance(there, Number)
            return Items(tuple(items), there=there)
        case "copy":
            return writer.operand(op.args[0])
        case "as_place":
            return _as_place(writer, op.args[0])
        case "as_key":
            return to_python(writer, _exactly(writer, op.args[0], "python numpy"))
        case "as_divisor":
            _exactly(writer, op.args[0], "python", floats=True)
            return _exactly(writer, op.args[1], "python", floats=True)
        case "method.contiguous":
            return _contiguous(writer, op)
        case "is_" | "is_not":
            return _identity(writer, op)
    match namespace:
        case "math":
            return native_python.math_function(writer, short, _numbers(writer, op))
        case "builtin":
            return _builtin(writer, short, op)
        case "method":
            return _method(writer, short, op)
        case "torch" | "np" | "":
            return _function(writer, namespace, short, op)
        case "inplace":
            return plain(_function(writer, "", short, op))
    raise writer.refuse("unknown-op", f"'{op.name}' has no scalar form")


def _held(writer: Writer, operand: Operand) -> Value:
    """The operand, in an array of its own if it is not stored yet."""
    value = writer.operand(operand)
    return native_vectors.held(writer, value) if isinstance(value, Elements) else value


TAKEN_APART = frozenset(
    """getitem iter_item iter_len builtin.len attribute unpack tuple list tuple_or_none as_key as_place as_divisor
    is_ is_not""".split()
)
"""Operations that compute nothing with the elements of arrays."""


def _is_of_numbers(writer: Writer, namespace: str, op: Op) -> bool:
    """Whether an operation surely neither takes nor makes a whole array: one of Python's on single numbers is none."""
    if op.name in TAKEN_APART:
        return True
    plain = namespace in ("", "inplace", "math", "builtin") and not any(isinstance(a, Group | Slice) for a in op.args)
    return plain and all(isinstance(writer.operand(argument), Number) for argument in op.args)


def _of_arrays(writer: Writer, namespace: str, short: str, op: Op) -> Value | None:
    """The value of an operation that takes or makes a whole array; None of others."""
    if (made := native_arrays.array_of(writer, namespace, short, op)) is not None:
        return made
    if (made := native_stacks.stack_of(writer, op)) is not None:
        return made
    if (made := native_items.made_of_items(writer, namespace, short, op)) is not None:
        return made
    if short == "flip" and (made := native_items.flipped(writer, namespace, op)) is not None:
        return made
    if (
        namespace in ("torch", "method")
        and short in adjoint_rules.OF_ONE
        and (one := _of_one(writer, short, op)) is not None
    ):
        return one
    return native_vectors.vector_op(writer, namespace, short, op, applied)


def _exactly(writer: Writer, operand: Operand, families: str, *, floats: bool = False) -> Number:
    """An integer, or with ``floats`` any number, of Python's or of NumPy's own."""
    number = writer.number(operand)
    known = number.type.family in families.split() and number.other is None
    if not known or not (floats or (number.type.is_integer and not number.type.is_bool)):
        raise writer.refuse("unsupported-value", "a key or divisor that is of another kind than Python tells apart")
    return number


def _as_place(writer: Writer, operand: Operand) -> Number:
    """What a list is subscripted by: an integer of any kind, or a truth, but none of NumPy's."""
    number = writer.number(operand)
    is_place = number.type.is_integer or (number.type.is_bool and number.type.family != "numpy")
    if not is_place or number.other is not None:
        raise writer.refuse("unsupported-value", "a list is subscripted by what may be no integer")
    return number


def _contiguous(writer: Writer, op: Op) -> Value:
    """What may be a copy or the tensor itself: it is told only where the tensor is changed."""
    value = writer.operand(op.args[0])
    if isinstance(value, View) and value.origin in writer.findings.stored:
        raise writer.refuse("aliasing", "'.contiguous' of a tensor that is written to may be a copy, or the tensor")
    return value


def _text(op: Op) -> str:
    argument = op.args[1]
    return argument.value if isinstance(argument, Const) and isinstance(argument.value, str) else ""


def _numbers(writer: Writer, op: Op, *, allowed: tuple[str, ...] = ()) -> list[Number]:
    if any(name not in allowed for name, _ in op.kwargs):
        raise writer.refuse("unknown-op", f"the keyword arguments of '{op.name}' have no scalar form")
    return [writer.number(argument) for argument in op.args]


# ---------------------------------------------------------------- functions and operators


def _function(writer: Writer, namespace: str, short: str, op: Op) -> Number:
    match short:
        case "tensor" | "as_tensor" | "scalar_tensor":
            return _new_tensor(writer, op)
        case "zeros" | "ones":
            return _filled(writer, short, op)
        case "zeros_like" | "ones_like" | "full_like" if namespace == "torch":
            return _filled_like(writer, short, op)
        case "clamp":
            return native_clamp.number(writer, op)
        case "leaky_relu":
            return _leaky_relu(writer, namespace, op)
    return applied(writer, namespace, short, _numbers(writer, op))


def _leaky_relu(writer: Writer, namespace: str, op: Op) -> Number:
    keywords = dict(op.kwargs)
    args = [*op.args, *([keywords.pop("negative_slope")] if "negative_slope" in keywords else [])]
    if keywords or len(args) > 2:
        raise writer.refuse("unknown-op", "these arguments of 'leaky_relu' have no scalar form")
    value, slope = writer.number(args[0]), writer.number(args[1] if len(args) == 2 else Const(LEAK))
    if not slope.type.is_python:
        raise writer.refuse("unknown-op", "a slope of 'leaky_relu' that is no number of Python's")
    return applied(writer, namespace, "leaky_relu", [value, slope])


def applied(writer: Writer, namespace: str, short: str, args: list[Number]) -> Number:
    if namespace == "np" and short in OTHERWISE and any(one.type.family == "tensor" for one in args):
        raise writer.refuse("unknown-op", f"'np.{short}' makes another tensor of a tensor than 'torch.{short}' does")
    """A function or operator on numbers."""
    match short, args:
        case ("where", [_, _, _]) if namespace in ("torch", "np"):
            return select(writer, args)
        case "not", [argument]:
            return negation(writer, argument)
        case (("pos" | "positive"), [argument]) if argument.type.family == "tensor" and not argument.type.is_bool:
            return argument
        case (("invert" | "logical_not"), [argument]):
            return invert(writer, argument) if short == "invert" else _logical_not(writer, argument)
        case "pow", [_, _]:
            return native_power.power(writer, namespace, args)
        case (("max" | "min"), [a, b]) if namespace == "torch":
            return elementwise(writer, "torch", {"max": "maximum", "min": "minimum"}[short], [a, b])
    if short in COMPARISONS or short in BITS or short in TESTS or short in LOGIC or row_of(short) is not None:
        return elementwise(writer, namespace, short, args)
    raise writer.refuse("unknown-op", f"'{namespace}{'.' if namespace else ''}{short}' has no scalar form")


def _logical_not(writer: Writer, argument: Number) -> Number:
    return replace(negation(writer, argument), type=Scalar(argument.type.family, "bool"))


def _dtype(writer: Writer, op: Op) -> Scalar | None:
    found = None
    for name, operand in op.kwargs:
        if name == "dtype":
            found = None if writer.operand(operand) == Fixed(None) else _scalar_of_dtype(writer, operand)
            continue
        device = getattr(writer.operand(operand), "value", NotImplemented)
        if name != "device" or not native_arrays.is_memory(device, writer):
            raise writer.refuse("unknown-op", f"the argument '{name}' of '{op.name}' has no scalar form")
    return found


def _scalar_of_dtype(writer: Writer, operand) -> Scalar:
    import torch

    value = writer.operand(operand)
    if isinstance(value, Fixed) and isinstance(value.value, torch.dtype):
        scalar = scalar_of(Kind("tensor", value.value))
        if scalar is not None:
            return scalar
    raise writer.refuse("unknown-op", "a conversion to this type has no scalar form")


def _new_tensor(writer: Writer, op: Op) -> Number:
    """``torch.tensor(number)``."""
    if len(op.args) != 1:
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    number = writer.number(op.args[0])
    if not number.type.is_python or number.other is not None:
        raise writer.refuse("unknown-op", f"'{op.name}' of a tensor")
    if number.type == MIXED and _dtype(writer, op) is None:
        raise writer.refuse("mixed-kinds", f"'{op.name}' of an integer or a float, which are of different dtypes")
    default = floating(Scalar("tensor", "int64")) if number.type.is_float else number.type.of_family("tensor")
    return convert(writer, number, _dtype(writer, op) or default)


def _filled(writer: Writer, short: str, op: Op) -> Number:
    """``torch.zeros(())``."""
    shape = writer.operand(op.args[0]) if len(op.args) == 1 else None
    if shape != Items(()) or not op.name.startswith("torch."):
        raise writer.refuse("not-scalar", "a tensor of more than one element is made in the loop")
    scalar = _dtype(writer, op) or floating(Scalar("tensor", "int64"))
    return convert(writer, writer.value(Const(0 if short == "zeros" else 1)), scalar)  # type: ignore[arg-type]


def _filled_like(writer: Writer, short: str, op: Op) -> Number:
    """``torch.ones_like(number)``: the operand tells the type alone."""
    keywords = dict(op.kwargs)
    given = [*op.args[1:], *([keywords.pop("fill_value")] if "fill_value" in keywords else [])]
    like = writer.number(op.args[0])
    if like.type.family != "tensor" or len(given) != (short == "full_like"):
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    number = writer.number(given[0]) if given else writer.number(Const(0 if short == "zeros_like" else 1))
    if not number.type.is_python or (number.type.is_float and not like.type.is_float):
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    return convert_held(writer, number, _dtype(writer, replace(op, kwargs=tuple(keywords.items()))) or like.type)


# ---------------------------------------------------------------- methods


def _of_one(writer: Writer, short: str, op: Op) -> Value | None:
    """A reduction of a 0-dim tensor of floats, which is its value; None for others."""
    dims = [*op.args[1:], *(value for name, value in op.kwargs if name == "dim")]
    known = all(isinstance(dim, Const) and dim.value in (None, 0, -1) for dim in dims)
    if len(dims) > (short not in ("max", "min")) or not known or len(dims) < len(op.args) - 1 + len(op.kwargs):
        return None
    value = writer.operand(op.args[0])
    if not isinstance(value, Number) or value.type.family != "tensor" or not value.type.is_float:
        return None
    return plain(writer.number(op.args[0]))


def _method(writer: Writer, short: str, op: Op) -> Value:
    owner = writer.operand(op.args[0])
    match short, owner:
        case ("size", View()) if len(op.args) == 2:
            return size(writer, owner, constant_of(writer, op.args[1]))
        case "size", View():
            return attribute(writer, owner, "shape")
        case "tolist", View() if not owner.is_list and owner.rank and len(op.args) == 1:
            return native_arrays.list_of_array(writer, owner)
        case (("dim" | "ndimension"), View()):
            return attribute(writer, owner, "ndim")
        case "index", View() if owner.is_list and len(op.args) == 2:
            return native_running.place_in_list(writer, owner, writer.number(op.args[1]))
    argument = writer.number(op.args[0])
    if argument.type.is_python:
        raise writer.refuse("unknown-op", f"the method '.{short}' of a number")
    if argument.other is not None:
        writer.fail_if(f"!({argument.flag})", "broken_requirement")
        argument = replace(argument, other=None, flag="")
    match short:
        case "item" | "tolist":
            return to_python(writer, argument)
        case "clone" | "detach" | "cpu":
            return plain(argument) if short == "clone" else argument
        case "to" | "type":
            return _as_type(writer, argument, _scalar_of_dtype(writer, op.args[1]))
        case _ if short in CONVERSIONS:
            return _as_type(writer, argument, Scalar("tensor", CONVERSIONS[short]))
        case "astype":
            raise writer.refuse("unknown-op", "'astype' has no scalar form")
    if short.endswith("_") and not short.endswith("__"):
        raise writer.refuse("unknown-op", f"the method '.{short}' changes a single element in place")
    if short in ("min", "max") and argument.type.family != "tensor" and len(op.args) > 1:
        raise writer.refuse("unknown-op", f"the method '.{short}' of a number, along an axis")
    return _function(writer, "torch", short, op)


def _as_type(writer: Writer, argument: Number, scalar: Scalar) -> Number:
    """A tensor that has the type already is handed out itself."""
    return argument if argument.type == scalar else convert(writer, argument, scalar)


# ---------------------------------------------------------------- builtins


def _builtin(writer: Writer, short: str, op: Op) -> Value:
    if short in ("min", "max", "sum") and len(op.args) == 1:
        value = writer.operand(op.args[0])
        if isinstance(value, View) and value.rank == 1 and not op.kwargs:
            return native_arrays.over_items(writer, short, value)
        if isinstance(value, Items) and value.items and not op.kwargs:
            return _over_known(writer, short, value)
    if short == "sorted":
        return _in_order(writer, op)
    if short == "float" and len(op.args) == 1 and isinstance(op.args[0], Const) and isinstance(op.args[0].value, str):
        return _of_text(writer, op.args[0].value)
    args = _numbers(writer, op)
    match short, args:
        case "int", [argument]:
            return _whole(writer, argument)
        case "float", [argument]:
            return plain(convert(writer, _settled(writer, argument), FLOAT))
        case "bool", [argument]:
            return truth(argument)
        case "divmod", [first, second] if "tensor" not in (first.type.family, second.type.family):
            operands = [writer.bind(first), writer.bind(second)]
            return Items(tuple(writer.bind(elementwise(writer, "", name, operands)) for name in ("floordiv", "mod")))
        case "abs", [argument]:
            return elementwise(writer, "", "abs", [argument])
        case "round", [argument] if _rounds(argument) and argument.other is None:
            return native_python.rounded(writer, argument)
        case "round", [argument, digits] if argument.type.is_python and argument.other is None:
            return native_python.rounded_to(writer, argument, digits)
        case (("min" | "max"), [first, second]):
            return _extreme(writer, short, first, second)
        case (("min" | "max"), [first, *others]) if others:
            for second in others:
                first = _extreme(writer, short, first, second)
            return first
    raise writer.refuse("unknown-op", f"'{op.name}' has no scalar form")


def _in_order(writer: Writer, op: Op) -> Value:
    value = writer.operand(op.args[0]) if len(op.args) == 1 else None
    keywords = dict(op.kwargs)
    backwards = keywords.pop("reverse", Const(False))
    if not isinstance(value, View) or keywords or not isinstance(backwards, Const) or type(backwards.value) is not bool:
        raise writer.refuse("not-scalar", "'sorted' of something else than a list of numbers")
    return native_selection.in_order(writer, value, backwards=backwards.value)


def _over_known(writer: Writer, short: str, value: Items) -> Number:
    """``min``, ``max`` or ``sum`` of a tuple or list that is known item by item."""
    numbers = [item for item in value.items if isinstance(item, Number)]
    if len(numbers) < len(value.items):
        raise writer.refuse("not-scalar", f"'{short}' of something else than numbers")
    if short == "sum" and len(numbers) > 2 and sys.version_info >= (3, 12):  # that keeps what each addition loses
        if any((one.type.is_python and one.type.is_float) or one.other is not None for one in numbers):
            raise writer.refuse("not-scalar", "'sum' of floats, which Python adds with the digits that are lost")
    found = constant(0, INT) if short == "sum" else numbers.pop(0)
    for number in numbers:
        if short == "sum":
            found = writer.bind(elementwise(writer, "", "add", [found, number]))
        else:
            found = _extreme(writer, short, found, number)
    return found


def _of_text(writer: Writer, text: str) -> Number:
    """``float("inf")``."""
    try:
        return constant(float(text), FLOAT)
    except ValueError:
        raise writer.refuse("requirement", f"'{text}' is no number") from None


def _rounds(argument: Number) -> bool:
    """Whether rounding a number gives an integer of Python's: floats of NumPy's do it as Python's."""
    return argument.type.is_python or (argument.type.family == "numpy" and argument.type.is_float)


def _whole(writer: Writer, argument: Number) -> Number:
    """``int(x)``: toward zero."""
    value = _settled(writer, argument)
    if value.type.is_float:
        return convert(writer, to_python(writer, value), INT)
    return convert(writer, to_python(writer, value), INT)


def _settled(writer: Writer, argument: Number) -> Number:
    """A number whose value does not depend on which of its types it has."""
    if argument.other is not None and argument.rounded:
        raise writer.refuse("mixed-kinds", "a variable is a number at first and a tensor of another dtype later")
    return replace(argument, other=None)


def _extreme(writer: Writer, short: str, first: Number, second: Number) -> Number:
    """Python's ``min`` and ``max``: the second of two only if it compares less (or greater)."""
    comparison = elementwise(writer, "", "lt" if short == "min" else "gt", [second, first])
    if writer.findings.mixes and are_mixed(first.type, second.type):
        first, second = as_mixed(writer, first), as_mixed(writer, second)
    if (decision := writer.decided(comparison)) is not None:
        return either(writer, decision, second, first)
    if first.type == second.type and first.other is None and second.other is None:
        function = "smaller" if short == "min" else "larger"
        number = Number(f"{function}<{first.type.cpp}>({first.text}, {second.text})", first.type)
        low = min(first.low, second.low) if short == "min" else max(first.low, second.low)
        high = min(first.high, second.high) if short == "min" else max(first.high, second.high)
        below = first.below | second.below if short == "min" else first.below & second.below
        number = replace(number, low=low, high=high, below=below, alias=first.alias or second.alias)
        return join_facts(number, [first, second])
    return either(writer, comparison, second, first)


def either(writer: Writer, condition: Number, first: Number, second: Number) -> Number:
    """``first if condition else second`` of two numbers of different types."""
    if writer.findings.mixes and are_mixed(first.type, second.type):
        a, b = as_mixed(writer, first), as_mixed(writer, second)
        text = f"{condition.at(CHOICE - 1)} ? {a.at(CHOICE - 1)} : {b.at(CHOICE - 1)}"
        return join_facts(Number(text, MIXED, CHOICE), [a, b, condition])
    common = common_type(first.type, second.type)
    python = {n.type for n in (first, second) if n.type.is_python} | {n.other for n in (first, second) if n.other}
    python.discard(common)
    typed = {n.type for n in (first, second) if not n.type.is_python}
    if common is None or len(python) > 1 or len(typed) > 1 or (typed and typed != {common}):
        raise writer.refuse("mixed-kinds", "'min' or 'max' of values of different types")
    a, b = (convert_held(writer, n, common) for n in (first, second))
    rounded = any(n.rounded or not _is_kept(n, common) for n in (first, second))
    condition = writer.bind(condition, "chosen")
    flag = f"({condition.text} ? {_flag(first, common)} : {_flag(second, common)})"
    text = f"{condition.text} ? {a.at(CHOICE - 1)} : {b.at(CHOICE - 1)}"
    other = next(iter(python), None)
    zero = all(n.zero for n in (first, second) if n.type.is_python or n.other is not None)
    alias = first.alias or second.alias
    number = Number(text, common, CHOICE, other=other, flag=flag, rounded=rounded, zero=zero, alias=alias)
    return join_facts(number, [first, second, condition])


def _is_kept(number: Number, common: Scalar) -> bool:
    """Whether a number of Python's is the same value in the common type."""
    if not number.type.is_python or number.type.name == common.name:
        return True
    return number.constant is not None and exactly(number.constant, common)


def _flag(number: Number, common: Scalar) -> str:
    """Whether a number is of the common type, and not of the Python type that it may have instead."""
    if number.type != common:
        return "false"
    return number.flag or "false" if number.other is not None else "true"


def _identity(writer: Writer, op: Op) -> Number:
    """``x is None``, ``x is True`` of a bool; nothing else is compared by identity."""
    left, right = (writer.operand(argument) for argument in op.args)
    if all(isinstance(one, Number) and one.type == BOOL and not one.bound for one in (left, right)):
        return applied(writer, "", "eq" if op.name == "is_" else "ne", _numbers(writer, op))
    value, fixed = (right, left) if isinstance(left, Fixed) else (left, right)
    if not isinstance(fixed, Fixed) or fixed.value is not None:
        raise writer.refuse("unknown-op", "'is' of anything but None")
    is_not = op.name == "is_not"
    if isinstance(value, Number) and value.bound and value.absent is None:
        text = value.bound if is_not else f"!{value.bound}"
        return Number(text, BOOL, 1, homes=value.homes)
    same = isinstance(value, Fixed) and value.value is None
    return writer.value(Const(same != is_not))  # type: ignore[return-value]
