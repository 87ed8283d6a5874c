"""Which operation a callable is: ``torch.exp`` is "torch.exp", ``math.sqrt`` "math.sqrt", ``abs`` "builtin.abs"."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from functools import cache
from typing import Any

BUILTINS = ("abs", "bool", "float", "int", "len", "max", "min", "round", "sum", "print", "divmod", "complex", "str",
            "sorted")  # fmt: skip

SECOND_NAMES = frozenset(
    """acos acosh asin asinh atan atanh atan2 bitwise_invert bitwise_left_shift bitwise_right_shift concat conjugate
    permute_dims pow""".split()
)
"""Of NumPy, of functions that have another name as well: they go by that one."""

FLOATING_TYPES = ("float16", "float32", "float64")
"""Of NumPy, called to convert a number. Those of integers raise where `astype` does not."""
TENSOR_TYPES = {
    "torch.Tensor": "", "torch.FloatTensor": "float32", "torch.DoubleTensor": "float64", "torch.LongTensor": "int64",
    "torch.IntTensor": "int32", "torch.BoolTensor": "bool",
}  # fmt: skip
"""Types that are called to make tensors, and the dtypes of these; "" is the default one."""
OF_USERS = "looplift.kernels."
"""The operators that users made of C++ of their own."""


@cache
def _table() -> dict[int, str]:
    import numpy as np
    import torch

    names: dict[int, str] = {}
    namespaces = (
        ("math", math), ("torch", torch), ("torch.nn.functional", torch.nn.functional), ("torch.linalg", torch.linalg),
        ("torch.special", torch.special), ("torch.fft", torch.fft), ("np", np), ("np.linalg", np.linalg),
        ("np.fft", np.fft),
    )  # fmt: skip
    for prefix, namespace in namespaces:
        for name, value in sorted(vars(namespace).items(), key=lambda item: item[0] in SECOND_NAMES):
            if name.startswith("_") or name in ("vmap", "compile", "no_grad"):
                continue
            if callable(value) and not isinstance(value, type):
                names.setdefault(id(value), f"{prefix}.{name}")
    for name in FLOATING_TYPES:
        names[id(getattr(np, name))] = f"np.{name}"
    for name in TENSOR_TYPES:
        names[id(getattr(torch, name.removeprefix("torch.")))] = name
    for name in BUILTINS:
        names[id(getattr(builtins, name))] = f"builtin.{name}"
    return names


def name_of(callable_: Callable) -> str | None:
    """The name of the operation that a callable is, or None."""
    if (found := _table().get(id(callable_)) or _method_of_function(callable_)) is not None:
        return found
    if type(callable_).__module__ != "looplift.runtime.custom":  # which is imported where there are such operators
        return None
    from looplift.runtime.custom import CustomOperator

    return f"{OF_USERS}{callable_.name}" if isinstance(callable_, CustomOperator) else None


def joining_name(value: Any) -> str | None:
    """``np.c_`` and ``np.r_`` join what they are subscripted by."""
    import numpy as np

    return "np.c_.__getitem__" if value is np.c_ else "np.r_.__getitem__" if value is np.r_ else None


def _method_of_function(callable_: Callable) -> str | None:
    """``np.add.reduce`` is a method of a function of NumPy."""
    import numpy as np

    owner = getattr(callable_, "__self__", None)
    if not isinstance(owner, np.ufunc) or callable_.__name__ not in ("reduce", "accumulate", "outer"):
        return None
    found = _table().get(id(owner))
    return found and f"{found}.{callable_.__name__}"


def said(name: str) -> str:
    """An operation as its author writes it."""
    return name.replace("method.", ".").replace("builtin.", "").removeprefix(OF_USERS)


@cache
def callable_of(name: str) -> Any:
    """The callable behind a name such as "torch.exp"; operators come from ``operator``."""
    import operator

    import numpy as np
    import torch

    owner, _, attribute = name.rpartition(".")
    match owner:
        case "":
            return getattr(operator, {"not": "not_"}.get(name, name))
        case "builtin":
            return getattr(builtins, attribute)
        case "math":
            return getattr(math, attribute)
        case "inplace":
            return getattr(operator, {"and_": "iand", "or_": "ior"}.get(attribute, "i" + attribute))
    if name.startswith(OF_USERS):
        from looplift.runtime.custom import made

        return made[attribute]
    value: Any = {"torch": torch, "np": np}[owner.split(".")[0]]
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value
