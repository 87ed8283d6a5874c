"""Values from outside in, their types in a typed program out."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import torch

from looplift.base.errors import NotLiftable
from looplift.emit.typed_types import (
    BOOL,
    DEPTH,
    DTYPES,
    ELEMENTS,
    FLOAT,
    INT,
    NEVER,
    NONE,
    TEXT,
    Box,
    HoldsItself,
    Joins,
    Rec,
    Ten,
    Tup,
    array_type,
)

_KINDS = {list: "list", collections.deque: "deque", dict: "dict", set: "set", bytes: "bytes", bytearray: "bytearray"}


def type_of(value: Any, joins: Joins, seen: dict[int, Any], depth: int = 0) -> Any:
    """The type of a value from outside; ``seen``: of containers, by identity. Raises NotLiftable."""
    known = {bool: BOOL, int: INT, float: FLOAT, str: TEXT, type(None): NONE}.get(type(value))
    if known is not None:
        return known
    if isinstance(value, np.ndarray | np.generic):
        return _type_of_numpy(value, joins)
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return _type_of_tensor(value, joins)
    if depth > DEPTH:
        raise HoldsItself
    if id(value) in seen:
        return seen[id(value)]
    if type(value) is tuple:
        return Tup(tuple(type_of(item, joins, seen, depth + 1) for item in value))
    kind = _KINDS.get(type(value))
    if kind is None and joins.of_object is not None and (found := joins.of_object(value, seen)) is not None:
        return found
    if kind is None:
        raise NotLiftable("unsupported-value", f"a {type(value).__name__}")
    if kind in ("bytes", "bytearray"):
        return Box(kind, INT)
    if kind == "dict" and joins.of_object is not None and (found := joins.of_object(value, seen)) is not None:
        return found
    if kind == "dict" and _is_record(value):
        names = tuple(sorted(value))
        return Rec(names, tuple(type_of(value[name], joins, seen, depth + 1) for name in names))
    columns = (value.keys(), value.values()) if kind == "dict" else (value,)
    box = seen[id(value)] = Box(kind, *(NEVER for _ in columns))
    if kind in ("dict", "set") and any(isinstance(key, torch.Tensor) for key in value):
        raise NotLiftable("unsupported-value", f"a {kind} that has tensors for keys")
    for place, column in enumerate(columns):
        for item in _of_each_kind(column):
            joins.widen(box, place, type_of(item, joins, seen, depth + 1))
    return box


def _type_of_numpy(value: Any, joins: Joins) -> Any:
    element = ELEMENTS.get(str(value.dtype))
    is_scalar = element is not None and type(value) is value.dtype.type
    if element is None or not (is_scalar or (type(value) is np.ndarray and 1 <= value.ndim <= 4)):
        raise NotLiftable("unsupported-value", f"a {type(value).__name__} of {value.dtype}")
    joins.meet_numpy(element)
    return element if is_scalar else array_type(element, value.ndim)


def _is_record(value: dict[Any, Any]) -> bool:
    """Whether a dict has a few names, and values of several kinds, tensors among them."""
    if not 0 < len(value) <= 32 or not all(type(name) is str and name.isidentifier() for name in value):
        return False
    kinds = {(type(one), getattr(one, "dtype", None), getattr(one, "ndim", None)) for one in value.values()}
    return len(kinds) > 1 and any(isinstance(one, torch.Tensor) for one in value.values())


def _type_of_tensor(value: torch.Tensor, joins: Joins) -> Ten:
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in DTYPES or value.device.type != "cpu" or value.layout is not torch.strided:
        raise NotLiftable("unsupported-value", f"a tensor of {dtype} on {value.device}")
    joins.tensors = True
    joins.tracked |= value.requires_grad and torch.is_grad_enabled()
    return Ten(dtype, value.dim())


def _of_each_kind(items: Any) -> list[Any]:
    """Items whose types are those of all."""
    kinds = {(type(item), *map(type, item)) if isinstance(item, tuple) else (type(item),): item for item in items}
    parts = {one for kind in kinds for one in (kind[1:] if issubclass(kind[0], tuple) else kind)}
    if all(one in _ATOMS or issubclass(one, np.generic) for one in parts):
        return list(kinds.values())
    return list(items)


_ATOMS = (bool, int, float, str, type(None))
