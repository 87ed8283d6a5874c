"""An object and a name in, whether to set that attribute of it does nothing else out."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np
import torch

_MISSING = object()


def has_plain_attribute(owner: Any, name: str) -> bool:
    """Whether to set an attribute does nothing else; and what it holds, if it is there, is a number, a tensor, a tuple
    of these, a flag or None."""
    kind = type(owner)
    readers = (object.__getattribute__, torch.nn.Module.__getattribute__)
    if isinstance(owner, type | types.ModuleType | types.FunctionType) or kind.__module__.partition(".")[0] == "torch":
        return False
    if isinstance(owner, torch.nn.Module):
        plain = kind.__setattr__ is torch.nn.Module.__setattr__ and kind.__getattr__ is torch.nn.Module.__getattr__
        plain = plain and name not in owner._parameters and name not in owner._modules
        held = {**owner._buffers, **owner.__dict__}
    else:
        plain = kind.__setattr__ is object.__setattr__ and not hasattr(kind, "__getattr__")
        held = getattr(owner, "__dict__", None)
    if not plain or held is None or kind.__getattribute__ not in readers:
        return False
    declared = inspect.getattr_static(kind, name, _MISSING)
    if name not in held:  # that of the class is read until there is one
        return declared is _MISSING or (not hasattr(type(declared), "__get__") and _is_value(declared))
    return not hasattr(type(declared), "__set__") and _is_value(held[name])


def _is_value(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_value, value))
    plain = (int, float, bool, str, np.ndarray, torch.Tensor)
    return value is None or (isinstance(value, plain) and not isinstance(value, torch.nn.Parameter))
