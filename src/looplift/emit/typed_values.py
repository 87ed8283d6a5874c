"""Values from outside in, their types in a typed program out."""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterator
from functools import reduce
from itertools import chain
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

_PLAIN = {bool: BOOL, int: INT, float: FLOAT, str: TEXT, type(None): NONE}
_KINDS = {list: "list", collections.deque: "deque", dict: "dict", set: "set", bytes: "bytes", bytearray: "bytearray"}


def type_of(value: Any, joins: Joins, seen: dict[int, Any]) -> Any:
    """The type of a value from outside; ``seen``: of containers, by identity. Raises NotLiftable."""
    return _joined((value,), joins, seen, 0)


def types_of(values: Collection[Any], joins: Joins, seen: dict[int, Any], depth: int = 0) -> Iterator[Any]:
    """The types of values that are all found at one place, as the items of a list: those of one class together."""
    kinds = dict.fromkeys(map(type, values))
    for kind in kinds:
        if kind in _PLAIN:
            yield _PLAIN[kind]
        else:
            those = values if len(kinds) == 1 else [value for value in values if type(value) is kind]
            yield from _of_kind(kind, those, joins, seen, depth)


def tuples_of(
    values: Collection[Any], joins: Joins, seen: dict[int, Any], depth: int = 0, *, of: Any = None
) -> Iterator[Tup]:
    """The types of tuples, one for each length; ``of``: the NamedTuple that they are."""
    lengths = dict.fromkeys(map(len, values))
    for length in lengths:
        those = values if len(lengths) == 1 else [value for value in values if len(value) == length]
        yield Tup(tuple(_joined(column, joins, seen, depth) for column in zip(*those, strict=True)), of=of)


def _joined(values: Collection[Any], joins: Joins, seen: dict[int, Any], depth: int) -> Any:
    return reduce(joins.join, types_of(values, joins, seen, depth), NEVER)


def _of_kind(kind: type, values: Collection[Any], joins: Joins, seen: dict[int, Any], depth: int) -> Iterator[Any]:
    if issubclass(kind, np.generic):
        yield _type_of_numpy(next(iter(values)), joins)
    elif issubclass(kind, np.ndarray):
        for one in {(value.dtype, value.ndim): value for value in values}.values():
            yield _type_of_numpy(one, joins)
    elif kind in (torch.Tensor, torch.nn.Parameter):
        for one in {(value.dtype, value.dim(), value.device, value.layout): value for value in values}.values():
            yield _type_of_tensor(one, joins)
        joins.tracked |= torch.is_grad_enabled() and any(value.requires_grad for value in values)
    elif depth > DEPTH:
        raise HoldsItself
    elif kind is tuple:
        yield from tuples_of(values, joins, seen, depth + 1)
    else:
        yield from {id(found): found for value in values if (found := seen.get(id(value))) is not None}.values()
        if new := [*{id(value): value for value in values if id(value) not in seen}.values()]:
            yield from _of_containers(kind, new, joins, seen, depth)


def _of_containers(kind: type, values: list[Any], joins: Joins, seen: dict[int, Any], depth: int) -> Iterator[Any]:
    """Containers, or objects of the user's, of one class."""
    name = _KINDS.get(kind)
    if joins.of_objects is not None and (name is None or kind is dict):
        found, values = joins.of_objects(kind, values, seen)
        yield from found
    if name is None and values:
        raise NotLiftable("unsupported-value", f"a {kind.__name__}")
    if kind is dict:
        records, values = _records_among(values)
        for names, those in records.items():
            columns = ([value[one] for value in those] for one in names)
            yield Rec(names, tuple(_joined(column, joins, seen, depth + 1) for column in columns))
    if values and name is not None:
        yield _box_of(name, values, joins, seen, depth)


def _box_of(kind: str, values: list[Any], joins: Joins, seen: dict[int, Any], depth: int) -> Box:
    """The one type of containers of a kind that are found at one place."""
    if kind in ("bytes", "bytearray"):
        return Box(kind, INT)
    columns = [[*chain.from_iterable(values)]]
    if kind in ("dict", "set") and any(issubclass(one, torch.Tensor) for one in {*map(type, columns[0])}):
        raise NotLiftable("unsupported-value", f"a {kind} that has tensors for keys")
    if kind == "dict":
        columns.append([*chain.from_iterable(value.values() for value in values)])
    box = Box(kind, *(NEVER for _ in columns))
    seen.update(dict.fromkeys(map(id, values), box))
    for place, column in enumerate(columns):
        for type_ in types_of(column, joins, seen, depth + 1):
            joins.widen(box, place, type_)
    return box


def _type_of_numpy(value: Any, joins: Joins) -> Any:
    element = ELEMENTS.get(str(value.dtype))
    is_scalar = element is not None and type(value) is value.dtype.type
    if element is None or not (is_scalar or (type(value) is np.ndarray and 1 <= value.ndim <= 4)):
        raise NotLiftable("unsupported-value", f"a {type(value).__name__} of {value.dtype}")
    joins.meet_numpy(element)
    return element if is_scalar else array_type(element, value.ndim)


def _records_among(values: list[dict[Any, Any]]) -> tuple[dict[tuple[str, ...], list[dict[Any, Any]]], list[Any]]:
    """Dicts that have a few names, and values of several kinds, tensors among them, by their names; and the others."""
    kinds = {*map(type, chain.from_iterable(value.values() for value in values))}
    if not any(issubclass(kind, torch.Tensor) for kind in kinds):
        return {}, values
    records: dict[tuple[str, ...], list[dict[Any, Any]]] = {}
    others = []
    for value in values:
        if _is_record(value):
            records.setdefault(tuple(sorted(value)), []).append(value)
        else:
            others.append(value)
    return records, others


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
    return Ten(dtype, value.dim())
