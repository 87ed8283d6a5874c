"""Stores that update a row in place, ``x[i] += v``: whether the row's type can hold the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import Operand, Store
from looplift.ops.evaluate import operand_value
from looplift.ops.names import callable_of


def check_update(store: Store, sample: Callable[[Any], Any]) -> None:
    """Refuses an update that NumPy refuses; one item of an array is no row, and is converted as any stored value."""
    import numpy as np

    array = sample(store.ref)
    if store.combine is None or not isinstance(array, np.ndarray):
        return
    if _rank_of_item(array, store.index, sample) == 0:
        return
    value = sample(store.value)
    value = np.asarray(value) if isinstance(value, list | tuple) else value
    small, operand = np.ones(1, array.dtype), value.dtype.type(1) if hasattr(value, "dtype") else value
    try:
        with np.errstate(all="ignore"):
            callable_of(f"inplace.{store.combine}")(small, operand)
    except AttributeError:
        return
    except TypeError as error:
        raise NotLiftable(
            "requirement", f"the update of '{store.ref.hint}' raises TypeError: {error}", store.span
        ) from None


def check_method(store: Store, sample: Callable[[Any], Any]) -> None:
    """Refuses ``x[i].fill_(v)`` and the like where that is not ``x[i] = v``: of what has no such method, of a copy that
    a mask or a list of places makes, and of values that the method refuses."""
    import torch

    tensor, value = sample(store.ref), sample(store.value)
    if not isinstance(tensor, torch.Tensor):
        text = f"'.{store.method}(...)' of an item of '{store.ref.hint}', which is no tensor"
        raise NotLiftable("effect-order", text, store.span)
    parts: Any = operand_value(store.index, sample)
    for part in parts if isinstance(parts, tuple) else (parts,):
        if isinstance(part, list | bool) or (hasattr(part, "dtype") and (part.ndim or "bool" in str(part.dtype))):
            text = f"'.{store.method}(...)' changes a copy: a list, a mask or a tensor of places makes one"
            raise NotLiftable("effect-order", text, store.span)
    if not _is_taken(store.method, value):
        text = f"'.{store.method}(...)' is given a {type(value).__name__} of another shape or kind than it takes"
        raise NotLiftable("requirement", text, store.span)


def _is_taken(method: str, value: Any) -> bool:
    """Whether a method in place takes such a value."""
    import torch

    if isinstance(value, torch.Tensor):
        return method != "fill_" or not value.dim()
    return method != "copy_" and isinstance(value, bool | int | float | complex)


def _rank_of_item(array: Any, index: Operand, sample: Callable[[Any], Any]) -> int | None:
    import numpy as np

    stand_in = np.broadcast_to(np.zeros((), array.dtype), [max(extent, 1) for extent in array.shape])
    try:
        return np.ndim(stand_in[operand_value(index, sample)])
    except (IndexError, TypeError):
        return None
