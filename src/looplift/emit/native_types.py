"""The types of numbers in a kernel: what a Kind is in C++, and in which type an operation on several computes."""

from __future__ import annotations

import math
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.ir.facts import Kind

_CPP = {
    "float64": "double",
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint64": "uint64_t",
    "uint32": "uint32_t",
    "uint16": "uint16_t",
    "uint8": "uint8_t",
    "bool": "bool",
    "mixed": "Number",
}
_TORCH = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
_NUMPY = ("float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool")


@dataclass(frozen=True)
class Scalar:
    """One number. ``family``: "python", "tensor" or "numpy"; ``name``: its dtype, int64 and float64 for Python's.

    "mixed": a number of Python's that is either.
    """

    family: str
    name: str

    @property
    def is_float(self) -> bool:
        return "float" in self.name or self.name == "mixed"

    @property
    def is_bool(self) -> bool:
        return self.name == "bool"

    @property
    def is_integer(self) -> bool:
        return not self.is_float and not self.is_bool

    @property
    def is_half(self) -> bool:
        return self.name in ("float16", "bfloat16")

    @property
    def is_python(self) -> bool:
        return self.family == "python"

    @property
    def cpp(self) -> str:
        return _CPP[self.name]

    @property
    def size(self) -> int:
        if self.name == "mixed":
            return 16
        return 1 if self.is_bool else int(self.name.lstrip("bufloatin")) // 8

    @property
    def limits(self) -> tuple[int, int]:
        """The least and greatest value of an integer type."""
        bits = 8 * self.size
        return (0, 2**bits - 1) if self.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def of_family(self, family: str) -> Scalar:
        if self.name == "mixed" and family != self.family:
            raise NotLiftable("mixed-kinds", "an array of what is an integer at times and a float at others")
        return Scalar(family, self.name)


INT = Scalar("python", "int64")
FLOAT = Scalar("python", "float64")
BOOL = Scalar("python", "bool")
MIXED = Scalar("python", "mixed")
"""An integer or a float, as it happens."""
_PYTHON = {"int": INT, "float": FLOAT, "bool": BOOL}


def scalar_of(kind: Kind) -> Scalar | None:
    """The type of a number of this kind, or of the elements of a tensor or array; None for anything else."""
    if kind.family in _PYTHON:
        return _PYTHON[kind.family]
    if kind.family == "tensor":
        name = str(kind.dtype).removeprefix("torch.")
        return Scalar("tensor", name) if name in _TORCH else None
    if kind.family in ("array", "numpy"):
        return Scalar("numpy", kind.dtype.name) if kind.dtype.isnative and kind.dtype.name in _NUMPY else None
    return None


def type_of_constant(value: Any) -> Scalar | None:
    """The type of a literal number."""
    return _PYTHON.get(type(value).__name__) if type(value) in (int, float, bool) else None


def common_type(first: Scalar, second: Scalar) -> Scalar | None:
    """The type in which an operation on two numbers computes; None where it is not defined."""
    families = {first.family, second.family}
    if MIXED in (first, second):
        return None if len(families) > 1 else FLOAT if FLOAT in (first, second) else MIXED
    if families == {"tensor", "numpy"}:
        return None
    if "tensor" in families:
        return Scalar("tensor", str(torch.result_type(_sample(first), _sample(second))).removeprefix("torch."))
    if "numpy" in families:
        return _numpy_common(first, second)
    if first.is_float or second.is_float:
        return FLOAT
    return BOOL if first.is_bool and second.is_bool else INT


def _sample(scalar: Scalar) -> Any:
    if scalar.is_python:
        return {"int64": 1, "float64": 1.0, "bool": True}[scalar.name]
    return torch.empty((), dtype=getattr(torch, scalar.name))


def _numpy_common(first: Scalar, second: Scalar) -> Scalar | None:
    import numpy as np

    def sample(scalar: Scalar) -> Any:
        return _sample(scalar) if scalar.is_python else np.dtype(scalar.name)

    name = np.result_type(sample(first), sample(second)).name
    return Scalar("numpy", name) if name in _NUMPY else None


def floating(scalar: Scalar) -> Scalar:
    """The type of the result of a function as ``exp`` or a true division."""
    if scalar.is_float:
        return scalar
    if scalar.family == "tensor":
        return Scalar("tensor", str(torch.get_default_dtype()).removeprefix("torch."))
    return Scalar(scalar.family, "float64")


def numpy_function_type(scalar: Scalar) -> Scalar | None:
    """The type of the result of a function as ``np.sqrt``; None where it is a half."""
    if scalar.is_float:
        return scalar
    if scalar.size == 1:
        return None
    return Scalar("numpy", "float32" if scalar.size == 2 else "float64")


def kind_of_scalar(scalar: Scalar) -> Kind:
    """The Kind of one number of this type."""
    if scalar.is_python:
        return Kind({"int64": "int", "float64": "float", "bool": "bool", "mixed": "number"}[scalar.name])
    if scalar.family == "tensor":
        return Kind("tensor", getattr(torch, scalar.name))
    import numpy as np

    return Kind("numpy", np.dtype(scalar.name))


def literal(value: bool | int | float, scalar: Scalar) -> str:
    """A Python number as a C++ literal of a type."""
    if scalar.is_bool:
        return "true" if value else "false"
    if scalar.is_integer:
        return _integer_literal(int(value))
    return _float_literal(float(value), scalar)


def _integer_literal(value: int) -> str:
    if -(2**31) < value < 2**31:
        return str(value)
    return "INT64_MIN" if value == -(2**63) else f"INT64_C({value})"


def _float_literal(value: float, scalar: Scalar) -> str:
    suffix = "" if scalar.name == "float64" else "f"
    if math.isnan(value):
        return '__builtin_nanf("")' if suffix else '__builtin_nan("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    if not suffix:
        return repr(value)
    return _single_literal(value)


def _single_literal(value: float) -> str:
    """The shortest text that C++ reads as the float32 nearest to a double."""
    import numpy as np

    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isinf(single):
        return _float_literal(float(single), Scalar("python", "float32"))
    text = str(single)
    return (text if "." in text or "e" in text else text + ".0") + "f"


def exactly(value: bool | int | float, scalar: Scalar) -> bool:
    """Whether a Python number is a value of the type, unchanged."""
    if scalar.is_bool:
        return isinstance(value, bool)
    if scalar.is_integer:
        return isinstance(value, int) and scalar.limits[0] <= value <= scalar.limits[1]
    if value != value or value in (math.inf, -math.inf):
        return True
    return float(torch.tensor(value, dtype=torch.float64).to(getattr(torch, scalar.name))) == value
