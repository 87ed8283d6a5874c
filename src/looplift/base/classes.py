"""Objects in, what their classes say of them in Python out."""

from __future__ import annotations

import collections
import sys
import types
from functools import cache
from typing import Any

_LIBRARIES = sys.stdlib_module_names | {"torch", "numpy", "looplift"}
FIELD_GETTER: type = type(vars(collections.namedtuple("_", "field"))["field"])
"""What the class of a NamedTuple has under the name of a field."""


def method_of_users(kind: type, name: str) -> types.FunctionType | None:
    """A special method that objects of a type have from a class of the user's, written in Python."""
    base = _declaring(kind, name)
    found = None if base is None or is_of_library(base.__module__) else vars(base)[name]
    return found if isinstance(found, types.FunctionType) else None


def declares(kind: type, name: str) -> bool:
    """Whether it is a class of the user's from which objects of a type have what goes by a name."""
    base = _declaring(kind, name)
    return base is not None and not is_of_library(base.__module__)


def _declaring(kind: type, name: str) -> type | None:
    return next((base for base in kind.__mro__ if name in vars(base)), None)


def is_called_object(value: Any) -> bool:
    """Whether a value can be called because a class of the user's, that of no network module, has a ``__call__``."""
    import torch

    return method_of_users(type(value), "__call__") is not None and not isinstance(value, type | torch.nn.Module)


@cache
def is_of_library(module: str) -> bool:
    """Whether a module is of Python's standard library, torch, NumPy or looplift."""
    return module.partition(".")[0] in _LIBRARIES
