"""Values of the same kind as a sample, on which operations are defined that the sample would refuse."""

from __future__ import annotations

from typing import Any

from looplift.ir.facts import Kind
from looplift.ir.grammar import Const, Op, operands


def as_kind(sample: Any, kind: Kind) -> Any:
    """A number as a value of the kind that it joined."""
    import numpy as np
    import torch

    if kind.family == "tensor" and not isinstance(sample, torch.Tensor):
        return torch.full((1,) * kind.rank, sample, dtype=kind.dtype)
    if kind.family == "numpy" and kind.dtype is not None and not isinstance(sample, np.generic):
        return kind.dtype.type(sample)
    if kind.family == "float" and isinstance(sample, int):
        return float(sample)
    if kind.family == "bool" and not isinstance(sample, bool):
        return bool(sample)
    return sample


def stand_in(sample: Any) -> Any:
    """A value of the same kind on which operations are defined: ones, and index 0."""
    import numpy as np
    import torch

    if isinstance(sample, torch.Tensor) and sample.dim() == 0:
        return torch.ones_like(sample)
    if isinstance(sample, np.generic):
        return type(sample)(1)
    if isinstance(sample, bool) or not isinstance(sample, int | float):
        return sample
    return 0 if isinstance(sample, int) else 1.0


def grown(op: Op, sample: Any) -> Any:
    """A value of the same kind that has the elements that are read, or by which one may divide."""
    import numpy as np
    import torch

    reads = op.name in ("getitem", "iter_item")
    places = [abs(a.value) for a in operands(op) if reads and isinstance(a, Const) and type(a.value) is int]
    least = 1 + max((place for place in places if place < 64), default=0)
    if isinstance(sample, torch.Tensor) and sample.dim():
        return sample.new_ones([max(extent, least) for extent in sample.shape])
    if isinstance(sample, np.ndarray):
        return np.ones([max(extent, least) for extent in sample.shape], sample.dtype)
    return 1 if type(sample) is int and not reads else stand_in(sample)


def regular(sample: Any) -> Any:
    """A value of the same kind and shape that has an inverse, where that can be asked: identity matrices."""
    import numpy as np
    import torch

    is_array = isinstance(sample, torch.Tensor | np.ndarray)
    if not is_array or sample.ndim < 2 or sample.shape[-1] != sample.shape[-2]:
        return stand_in(sample)
    if isinstance(sample, np.ndarray):
        return np.broadcast_to(np.eye(sample.shape[-1], dtype=sample.dtype), sample.shape).copy()
    return torch.eye(sample.shape[-1], dtype=sample.dtype, device=sample.device).expand(sample.shape).clone()
