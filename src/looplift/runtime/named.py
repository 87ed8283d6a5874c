"""An expression and the values of names in, the objects that it may name out; no code of the user's runs for it."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import torch

from looplift.base.classes import is_called_object

MOST_ITEMS = 64
"""Of a list or dict so many items are looked at."""


def objects_named(node: ast.expr, values: Mapping[str, Any]) -> list[Any]:
    """What an expression may name; nothing where that is not known.

    ``a or b`` names either, and ``items[:]``, which is no callee of anyone, any item of a list or value of a dict.
    """
    match node:
        case ast.Name(id=name):
            return [values[name]] if name in values else []
        case ast.BoolOp(values=parts):
            return [found for part in parts for found in objects_named(part, values)]
        case ast.Attribute(value=owner, attr=name):
            owners = objects_named(owner, values)
            return [found for one in owners if (found := _attribute(one, name)) is not None]
        case ast.Subscript(value=owner, slice=key):
            return [found for one in objects_named(owner, values) for found in islice(_items(one, key), MOST_ITEMS)]
    return []


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that can be read without running code; None where it is no object to call or to take one of."""
    if issubclass(type(owner), torch.nn.Module) and name in (modules := owner.__dict__.get("_modules", {})):
        return modules[name]
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, types.FunctionType) and not isinstance(owner, types.ModuleType | type):
        return types.MethodType(found, owner)
    known = types.FunctionType | torch.nn.Module | list | tuple | dict
    return found if isinstance(found, known) or is_called_object(found) else None


def _items(owner: Any, key: ast.expr) -> Iterator[Any]:
    """The item under a constant, or any that may be meant."""
    if isinstance(owner, torch.nn.ModuleList | torch.nn.Sequential | torch.nn.ModuleDict):
        owner = owner.__dict__["_modules"]
        owner = owner if isinstance(key, ast.Constant) and type(key.value) is str else [*owner.values()]
    if type(owner) not in (list, tuple, dict):
        return
    if not isinstance(key, ast.Constant):
        yield from owner.values() if type(owner) is dict else owner
    elif type(owner) is dict:
        yield from [owner[key.value]] if key.value in owner else []
    elif type(key.value) is int and key.value < len(owner):
        yield owner[key.value]
