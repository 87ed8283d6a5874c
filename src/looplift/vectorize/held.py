"""Single numbers stored into arrays of a narrower type: that they fit is required, as the loop raises."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context


def check_held(context: Context, array: Array, value: Node, combine: str | None) -> None:
    """Require that the array's type holds a stored number of Python's or NumPy's; what tensors hold wraps around."""
    if value.kind.family == "float" and str(array.kind.dtype) == "torch.float32" and combine is None:
        check_float(context, value)
    if value.kind.rank or (array.kind.family == "tensor" and value.kind.family not in ("int", "numpy")):
        return
    source, target = _limits(nodes.lane_dtype(value.kind)), _limits(array.kind.dtype)
    if source is None or target is None or (target[0] <= source[0] and source[1] <= target[1]):
        return
    if combine is not None and value.kind.family != "int":
        raise context.refuse("unsupported-value", f"a {value.kind.dtype} is added to one of {array.kind.dtype}")
    if combine is not None and array.kind.family == "tensor":
        return
    if value.op == "const":
        if not target[0] <= value.attrs["value"] <= target[1]:
            raise context.refuse("requirement", f"{value.attrs['value']} does not fit {array.kind.dtype}")
        return
    least, greatest = map(nodes.const, target)
    context.check(nodes.both(nodes.compare("ge", value, least), nodes.compare("le", value, greatest)))


def check_float(context: Context, value: Node) -> None:
    """A float of Python's that single precision does not hold raises; infinity itself is stored."""
    small = value.op == "retype" and str(value.args[0].kind.dtype) != "torch.float64"
    if not value.axes or small:
        return
    if value.op == "where" and not any(side.axes for side in value.args[1:]):
        for side in value.args[1:]:  # two numbers for all lanes
            _check_size(context, side)
        return
    _check_size(context, value)


def _check_size(context: Context, value: Node) -> None:
    number = value.attrs["value"] if value.op == "const" else None
    if isinstance(number, int | float) and (abs(number) <= GREATEST_SINGLE or abs(number) == float("inf")):
        return
    size = nodes.elementwise("builtin.abs", [value], value.kind)
    beyond = nodes.compare("gt", size, nodes.const(GREATEST_SINGLE))
    context.check(nodes.negated(nodes.both(beyond, nodes.compare("ne", size, nodes.const(float("inf"))))))


def converted(context: Context, value: Node, dtype: Any) -> Node:
    """A value as an element of a new array, of whose integer types Python's numbers must be in the range."""
    check_number(context, value, dtype)
    return nodes.cast(value, dtype)


def check_number(context: Context, value: Node, dtype: Any) -> None:
    """Require that an integer type holds a number of Python's, a float before it is cut off."""
    source, target = _limits(nodes.lane_dtype(value.kind)) if value.kind.is_number else None, _limits(dtype)
    if target is None or value.op == "const" or value.kind.family not in ("int", "float"):
        return
    if source is None:
        low, high = map(nodes.const, map(float, target))
        upper = nodes.compare("lt" if target[1] >= 2**53 else "le", value, high)
        context.check(nodes.both(nodes.compare("ge", value, low), upper))
    elif target[0] > source[0] or source[1] > target[1]:
        wraps = context.library == "torch" and not target[0]  # negative numbers do, in types that have none
        low, high = nodes.const(-target[1] if wraps else target[0]), nodes.const(target[1])
        context.check(nodes.both(nodes.compare("ge", value, low), nodes.compare("le", value, high)))


GREATEST_SINGLE = (2 - 2.0**-23) * 2.0**127


def _limits(dtype: Any) -> tuple[int, int] | None:
    """The least and the greatest value of an integer type; None for another one."""
    name = str(dtype).rpartition(".")[2]
    kind, _, digits = name.partition("int")
    if kind not in ("", "u") or not digits.isdigit():
        return None
    bits = int(digits)
    return (0, 2**bits - 1) if kind else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
