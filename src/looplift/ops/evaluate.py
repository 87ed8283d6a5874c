"""Runs one operation on real values: the probe of the analysis, and the interpreter's arithmetic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import DISTINCT, LONGEST, SORTED, STEP, STOP, TIMES, Atom, Group, Op, Operand, Slice
from looplift.ir.slopes import THROUGH
from looplift.ops.names import callable_of


def operand_value(operand: Operand, value: Callable[[Atom], Any]) -> Any:
    """The Python value of an operand, given that of its atoms."""
    match operand:
        case Group(kind=kind, items=items):
            made = [operand_value(item, value) for item in items]
            return tuple(made) if kind == "tuple" else made
        case Slice(lo=lo, hi=hi, step=step):
            return slice(value(lo), value(hi), value(step))
    return value(operand)


def evaluate(op: Op, value: Callable[[Atom], Any], called: Callable[[str], Any] = callable_of) -> Any:
    """The result of an operation; raises what the operation raises. ``called``: what a function's name
    stands for."""
    args = [operand_value(argument, value) for argument in op.args]
    kwargs = {key: operand_value(argument, value) for key, argument in op.kwargs}
    return apply(op.name, args, kwargs, called)


def apply(name: str, args: list[Any], kwargs: dict[str, Any], called: Callable[[str], Any] = callable_of) -> Any:
    """Apply the named operation."""
    match name:
        case "getitem" | "iter_item":
            return args[0][args[1]]
        case "iter_len":
            return len(args[0])
        case "tuple":
            return tuple(args)
        case "tuple_or_none":
            return tuple(args[1:]) if args[0] else None
        case "list":
            return list(args)
        case "zipped":
            return list(zip(*args, strict=True))
        case "zipped_lists":
            return list(map(list, zip(*args, strict=True)))
        case "mapping":
            return dict(zip(*args, strict=True))
        case "zipped_dicts":
            return [dict(zip(args[0], items, strict=True)) for items in zip(*args[1:], strict=True)]
        case "dict":
            return dict(zip(args[0], args[1:], strict=True))
        case "attribute":
            return getattr(args[0], args[1])
        case "unpack":
            return _unpack(*args)
        case "copy" | "unrecorded":
            return args[0]
        case "in_":
            return args[0] in args[1]
        case "not_in":
            return args[0] not in args[1]
        case "as_key":
            return _as_key(args[0])
        case "key_place":
            return args[0].index(args[1]) if args[1] in args[0] else -1
        case "as_place":
            return _as_place(args[0])
        case "as_divisor":
            return _as_divisor(*args)
        case _ if name == THROUGH:
            from looplift.ops.differentiated import slopes_through

            which, ends, slopes, given = args
            return slopes_through(which, ends, slopes, given, kwargs)
        case _ if name == SORTED:
            return sorted(range(len(args[0])), key=args[0].__getitem__, reverse=args[1])
        case _ if name == DISTINCT:
            return list(dict.fromkeys(args[0]))
        case _ if name == TIMES:
            return [args[0].count(item) for item in dict.fromkeys(args[0])]
        case "format":
            return "".join(map(_formatted, args))
        case _ if name == STEP:
            return 2 * args[1]  # any number of iterations gives the same results
        case _ if name == STOP:
            start, step, end, stride = args
            return min(start + step, end) if stride > 0 else max(start + step, end)
        case _ if name == LONGEST:
            return args[0]
        case "call" | "module":
            return args[0](*args[1:], **kwargs)
    if name.startswith("method."):
        return getattr(args[0], name[7:])(*args[1:], **kwargs)
    return called(name)(*args, **kwargs)


def _unpack(value: Any, position: int, count: int) -> Any:
    items = tuple(value)
    if len(items) != count:
        raise ValueError(f"{len(items)} values for {count} names")
    return items[position]


def _as_key(value: Any) -> int:
    """A key of a dict under integers: floats and tensors are not equal to what they look like, or not surely."""
    import numpy as np

    if type(value) is not int and not isinstance(value, np.integer):
        raise NotLiftable("unsupported-value", f"a dict or a place is asked for a key that is a {type(value).__name__}")
    return int(value)


def _as_place(value: Any) -> Any:
    """What a list is subscripted by."""
    try:
        operator.index(value)
    except TypeError:
        raise NotLiftable("unsupported-value", f"a list is subscripted by a {type(value).__name__}") from None
    return value


def _as_divisor(dividend: Any, divisor: Any) -> Any:
    """What Python's numbers are divided by: those of NumPy, and tensors, raise nothing where it is zero."""
    if {type(dividend), type(divisor)} - {int, float, bool}:
        raise NotLiftable("exception-handling", "a 'try' around a division of what are not numbers of Python's")
    return divisor


def _formatted(part: Any) -> str:
    if isinstance(part, str):
        return part
    value, conversion, spec = part
    value = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}[conversion](value)
    return format(value, spec)
