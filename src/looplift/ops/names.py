"""Which operation a callable is: ``torch.exp`` is "torch.exp", ``math.sqrt`` "math.sqrt", ``abs`` "builtin.abs"."""

from __future__ import annotations

import builtins
import math
import sys
import types
from collections.abc import Callable, Mapping
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
LIMITS = ("finfo", "iinfo")
"""Of both libraries, what tells of a dtype its least and greatest number."""
LIBRARIES = frozenset(("torch", "numpy", "math", "cmath", "itertools", "functools", "operator", "random", "builtins"))
"""Modules of which no values are asked again whether they are as they were, but functions."""
OTHERWISE = frozenset(("sign", "heaviside", "reciprocal"))
"""Functions of NumPy's that have other values for some numbers than PyTorch's of the same name."""
OF_USERS = "looplift.kernels."
"""The operators that users made of C++ of their own."""


def _table() -> dict[int, str]:
    """The names of operations by the identities of their callables."""
    return _table_of(_has_transforms())


def _has_transforms() -> bool:
    """Whether ``np.fft`` is imported, which NumPy does where it is used: before that nobody has a function of it."""
    return "numpy.fft" in sys.modules


@cache
def _table_of(has_transforms: bool) -> dict[int, str]:
    import numpy as np
    import torch

    names: dict[int, str] = {}
    namespaces = {
        "math": math, "torch": torch, "torch.nn.functional": torch.nn.functional, "torch.linalg": torch.linalg,
        "torch.special": torch.special, "torch.fft": torch.fft, "np": np, "np.linalg": np.linalg,
    }  # fmt: skip
    if has_transforms:
        namespaces["np.fft"] = np.fft
    compiled = (types.BuiltinFunctionType, np.ufunc)
    for prefix, namespace in namespaces.items():
        members = vars(namespace)
        for name in sorted(members, key=SECOND_NAMES.__contains__):
            if name[0] == "_" or name in ("vmap", "compile", "no_grad"):
                continue
            value = members[name]
            if isinstance(value, compiled) or _is_function(value):
                names.setdefault(id(value), f"{prefix}.{name}")
    for name in FLOATING_TYPES:
        names[id(getattr(np, name))] = f"np.{name}"
    for name in TENSOR_TYPES:
        names[id(getattr(torch, name.removeprefix("torch.")))] = name
    for name in LIMITS:
        names |= {id(getattr(torch, name)): f"torch.{name}", id(getattr(np, name)): f"np.{name}"}
    for name in BUILTINS:
        names[id(getattr(builtins, name))] = f"builtin.{name}"
    return names


def _is_function(value: Any) -> bool:
    """Whether a function stands in a library's module, and was not put there by somebody else."""
    if not callable(value) or isinstance(value, type):
        return False
    home = str(getattr(value, "__module__", None)).partition(".")[0]
    return not isinstance(value, types.FunctionType) or home in ("torch", "numpy")


def name_of(callable_: Callable) -> str | None:
    """The name of the operation that a callable is, or None: of a function that another one stands for now, too."""
    if (found := _table().get(id(callable_))) is not None:
        return None if is_replaced(found) else found
    if (found := _method_of_function(callable_)) is not None:
        return found
    if type(callable_).__module__ != "looplift.runtime.custom":  # which is imported where there are such operators
        return None
    from looplift.runtime.custom import CustomOperator

    return f"{OF_USERS}{callable_.name}" if isinstance(callable_, CustomOperator) else None


@cache
def _names_of(has_transforms: bool) -> frozenset[str]:
    return frozenset(_table_of(has_transforms).values())


def is_operation(name: str) -> bool:
    """Whether a function of a library has this name."""
    return name in _names_of(_has_transforms())


def is_replaced(name: str) -> bool:
    """Whether another function stands where an operation has its name."""
    return id(standing_at(name)) not in _table()


def is_library(module: types.ModuleType) -> bool:
    return is_library_name(module.__name__)


def is_library_name(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def of_libraries(functions: Mapping[tuple[Any, str], Any], names: dict[str, Any]) -> list[str]:
    """Guards that modules of libraries still hold the functions that they held under these names."""
    guards = []
    for (module, attribute), function in functions.items():
        owner = f"_library_{module.__name__.replace('.', '_')}"
        names |= {owner: module, f"{owner}_{attribute}": function}
        guards.append(f"{owner}.{attribute} is {owner}_{attribute}")
    return guards


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
    return standing_at(name)


def standing_at(name: str) -> Any:
    """What stands in a library under a name such as "torch.linalg.norm" now."""
    import numpy as np
    import torch

    value: Any = {"torch": torch, "np": np, "math": math, "builtin": builtins}[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value
