"""An operation and the dtypes of its operands and result in; whether autocast treats it as it treats a batched form.

Autocast casts what is asked of torch, not what torch asks of itself: ``mv`` stays in single precision, the product of
matrices that does it for many lanes is rounded; ``linear`` is rounded, not so the sums that ``torch.vmap`` makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looplift.ops.table import base_name

_ALIKE = frozenset("matmul mm bmm einsum tensordot".split())
_PRODUCTS_IN_BATCHES = frozenset("mv dot inner vdot addmv".split())


def rounds_products(dtype: Any) -> bool:
    """Whether autocast is on, and computes a product of matrices of these floats in another dtype."""
    import torch

    if not torch._C._is_any_autocast_enabled() or dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return False
    on = [device for device in ("cpu", "cuda") if torch.is_autocast_enabled(device)]
    return not on or any(torch.get_autocast_dtype(device) is not dtype for device in on)


def differs_in_batches(name: str, result: Any, operands: Iterable[Any]) -> bool:
    """Whether an operation on tensors of these dtypes may be rounded otherwise under ``torch.vmap``."""
    import torch

    if not torch._C._is_any_autocast_enabled() or (base := base_name(name)) in _ALIKE:
        return False
    floats = {dtype for dtype in operands if isinstance(dtype, torch.dtype) and dtype.is_floating_point}
    is_float = isinstance(result, torch.dtype) and result.is_floating_point
    return is_float and bool(floats) and (floats != {result} or base in _PRODUCTS_IN_BATCHES)
