"""Tensors and arrays in, whether they share memory out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def reach(value: torch.Tensor | np.ndarray) -> tuple[int, int]:
    """Where the memory under a tensor or array starts and ends."""
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        start = storage.data_ptr()
        return start, start + storage.nbytes()
    return np.lib.array_utils.byte_bounds(value)


def apart(a: Any, b: Any) -> bool:
    """Whether two tensors or arrays share no memory; storages that NumPy lent may overlap without being the same."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return not np.may_share_memory(a, b)
    if not all(isinstance(one, torch.Tensor | np.ndarray) for one in (a, b)):
        return True
    (start, end), (other_start, other_end) = reach(a), reach(b)
    return end <= other_start or other_end <= start


def held_apart(a: Any, b: Any) -> bool:
    """Whether nothing that is in one of two values, or is one, shares memory with the other one."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, dict | list | tuple):
            items = [*one.values()] if isinstance(one, dict) else one
            return a is not b and all(held_apart(item, other) for item in items)
    return apart(a, b)


def apart_from_module(a: Any, module: Any) -> bool:
    """Whether a tensor or array shares no memory with the parameters and buffers of a network module."""
    return all(apart(a, one) for one in (*module.parameters(), *module.buffers()))


def own_places(a: Any) -> bool:
    """Whether each element of a tensor or array has a place of its own in memory."""
    if a.flags.c_contiguous if isinstance(a, np.ndarray) else a.is_contiguous():
        return True
    strides = [s // a.itemsize for s in a.strides] if isinstance(a, np.ndarray) else a.stride()
    reached = 1
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, a.shape, strict=True) if n > 1):
        if stride < reached:
            return False
        reached = stride * (extent - 1) + reached
    return True


def layout(value: torch.Tensor) -> tuple[Any, ...]:
    """What tells which dimensions of a tensor ``view`` can join: the order of its strides, and which follow others."""
    sizes, strides = value.shape, value.stride()
    long = [place for place, size in enumerate(sizes) if size > 1]
    joined = [(a, b) for a in long for b in long if a != b and strides[a] == strides[b] * sizes[b]]
    return tuple(sorted(long, key=lambda place: -strides[place])), tuple(joined)


def contiguous(values: Any, depth: int = 6) -> bool:
    """Whether all tensors in a container are contiguous; not known of containers that hold too deep, or themselves."""
    if isinstance(values, torch.Tensor):
        return values.is_contiguous()
    values = [*values.values()] if isinstance(values, dict) else values
    if not isinstance(values, list | tuple):
        return True
    return depth > 0 and all(contiguous(value, depth - 1) for value in values)
