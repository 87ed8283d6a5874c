"""Tensors of a CUDA device that hold no numbers: where there is no device, the compiler sees what it would see there.

They are PyTorch's fake tensors. What reads a number of one gets a one.
"""

from __future__ import annotations

import builtins

import torch
from tests.ir.running import translated
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode

from looplift.analysis import probe
from looplift.emit import native_signature
from looplift.runtime import guards

READS = {"item": None, "__int__": int, "__float__": float, "__bool__": bool, "__index__": int}


class Reads(TorchFunctionMode):
    """Subscripts and numbers of fake tensors, for which PyTorch would ask its device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in READS and isinstance(args[0], FakeTensor):
            dtype = args[0].dtype
            return (READS[name] or (float if dtype.is_floating_point else bool if dtype == torch.bool else int))(1)
        return item(*args) if func is torch.Tensor.__getitem__ else func(*args, **(kwargs or {}))


def item(tensor, index):
    axis = 0
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, slice):
            tensor = torch.ops.aten.slice(tensor, axis, part.start, part.stop, part.step or 1)
            axis += 1
        else:
            tensor = tensor.select(axis, 0 if isinstance(part, torch.Tensor) else int(part))
    return tensor


def facts_there(function, arguments, monkeypatch):
    """The facts of a function whose tensors are on a device."""
    monkeypatch.setattr(guards, "TENSORS", (*guards.TENSORS, FakeTensor))
    monkeypatch.setattr(native_signature, "_share_storage", lambda one, other: one is other)
    monkeypatch.setattr(probe, "type", _plain_type, raising=False)
    with Reads(), FakeTensorMode(allow_non_fake_inputs=True):
        return probe.analyse(translated(function, tuple(map(_faked, arguments))))


def _plain_type(value):
    return torch.Tensor if builtins.type(value) is FakeTensor else builtins.type(value)


def _faked(value):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")
