"""Whether an operation has the kind of result in a kernel that it has in Python: it is run once, on ones."""

from __future__ import annotations

import warnings
from typing import Any

from looplift.emit.native_ops import canonical
from looplift.emit.native_types import MIXED, Scalar, kind_of_scalar
from looplift.emit.native_values import Elements, Fixed, Items, Number, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.facts import Kind, kind_of
from looplift.ir.grammar import Const, Group, Op, Operand, Slice, Var, operands
from looplift.ops.evaluate import apply

_NAMESPACES = ("torch", "np", "method", "")
_STRUCTURE = frozenset("getitem iter_item iter_len attribute unpack tuple list copy is_ is_not in_ not_in".split())


class _NoSample(Exception):
    """Nothing is known that stands for a value."""


def check_result(writer: Writer, op: Op, value: Value) -> None:
    """Raises NotLiftable if the operation raises in Python, or gives something of another kind."""
    if writer.provisional or op.name in _STRUCTURE or canonical(op.name)[0] not in _NAMESPACES:
        return
    if not isinstance(value, Number | View | Elements):
        return
    try:
        args = [_sample(writer, argument) for argument in op.args]
        keywords = {name: _sample(writer, argument) for name, argument in op.kwargs}
    except _NoSample:
        return
    if _all_python(args) and _all_python(list(keywords.values())) and canonical(op.name)[0] == "":
        return
    found = _kind(writer, op.name, args, keywords)
    if found != _kind_of_value(value) and not any(map(_is_mixed, _values_of(writer, op))):
        raise writer.refuse("unknown-op", f"'{op.name}' of these kinds has no scalar form")


def _values_of(writer: Writer, op: Op) -> list[Value | None]:
    return [writer.values.get(atom) for atom in operands(op) if isinstance(atom, Var)]


def _is_mixed(value: Value | None) -> bool:
    """Whether a number may be of another type than it is declared with."""
    return isinstance(value, Number) and value.other is not None


def _all_python(samples: list[Any]) -> bool:
    return all(type(sample) in (int, float, bool, list) for sample in samples)


def _kind(writer: Writer, name: str, args: list[Any], keywords: dict[str, Any]) -> Kind:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind_of(apply(name, args, keywords))
    except Exception as error:
        raise writer.refuse("requirement", f"'{name}' raises {type(error).__name__}: {error}") from None


def _kind_of_value(value: Number | View | Elements) -> Kind:
    rank = value.rank if isinstance(value, View) else len(value.sizes) if isinstance(value, Elements) else 0
    kind = kind_of_scalar(value.type)
    if value.type.is_python or (isinstance(value, View) and value.holds_objects):
        for _ in range(rank):
            kind = Kind("list", items=(kind,))
        return kind
    family = "array" if kind.family == "numpy" and rank else kind.family
    return Kind(family, kind.dtype, rank)


def _sample(writer: Writer, operand: Operand) -> Any:
    match operand:
        case Group(kind=kind, items=items):
            made = [_sample(writer, item) for item in items]
            return tuple(made) if kind == "tuple" else made
        case Slice():
            raise _NoSample
        case Const(value=value):
            return value
    value = writer.values[operand]
    if isinstance(value, View) and value.origin is operand and operand in writer.findings.items and not value.is_list:
        return [_one(value.type, (1,) * (value.rank - 1))]  # a list of arrays
    return _sample_of(value)


def _sample_of(value: Value) -> Any:
    match value:
        case Number(constant=constant, type=scalar) if constant is not None and scalar.is_python:
            return constant
        case Number(type=scalar) | View(type=scalar) if scalar == MIXED:
            raise _NoSample
        case Number(type=scalar):
            return _one(scalar, ())
        case View(type=scalar, holds_objects=True):
            return [_one(scalar, ())]
        case View(type=scalar):
            return _one(scalar, (1,) * value.rank)
        case Elements(type=scalar, sizes=sizes):
            return _one(scalar, (1,) * len(sizes))
        case Items(items=items, is_list=is_list):
            return (list if is_list else tuple)(map(_sample_of, items))
        case Fixed(value=fixed):
            return fixed
    raise _NoSample


def _one(scalar: Scalar, shape: tuple[int, ...]) -> Any:
    """A one of a type, or an array of ones."""
    import numpy as np
    import torch

    if scalar.family == "tensor":
        return torch.ones(shape, dtype=getattr(torch, scalar.name))
    if scalar.family == "numpy":
        return np.ones(shape, np.dtype(scalar.name)) if shape else np.dtype(scalar.name).type(1)
    made: Any = {"int64": 1, "float64": 1.0, "bool": True}[scalar.name]
    for _ in shape:
        made = [made]
    return made
