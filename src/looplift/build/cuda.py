"""CUDA C++ to a callable that launches it: NVRTC compiles it, through torch, once for each text and device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from looplift.base.errors import NotLiftable, RequirementFailed
from looplift.ir.kernel_launch import BLOCK, BLOCKS, ENTRY, OPTIONS


@functools.cache
def compiled(text: str, device: torch.device) -> Callable[..., None]:
    """The kernel of a text, which is launched with ``grid``, ``block`` and ``args``. Raises NotLiftable where torch or
    this machine cannot compile it."""
    compile_kernel: Any = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None or torch.version.hip:
        raise NotLiftable("device", "no kernel for a device: PyTorch 2.8 or newer, for CUDA, is needed to compile it")
    try:
        with torch.cuda.device(device):
            return compile_kernel(text, ENTRY, nvcc_options=list(OPTIONS))
    except (RuntimeError, OSError, AttributeError, TypeError) as why:
        raise NotLiftable("device", f"no kernel for a device: it cannot be compiled: {str(why)[:2000]}") from why


def home_of(*tensors: torch.Tensor) -> torch.device:
    """The one CUDA device that tensors are on. Raises TypeError where there is none, RequirementFailed while a graph of
    CUDA's is recorded, which takes no kernel that is waited for."""
    device = tensors[0].device
    if device.type != "cuda" or any(tensor.device != device for tensor in tensors):
        raise TypeError("a kernel's tensors must all be on one CUDA device")
    if torch.cuda.is_current_stream_capturing():
        raise RequirementFailed("a CUDA graph is recorded")
    return device


@functools.cache
def _blocks(device: torch.device) -> int:
    return BLOCKS * torch.cuda.get_device_properties(device).multi_processor_count


def launcher(text: str) -> Callable[[torch.device, Sequence[Any]], None]:
    """What launches the kernel of a text on a device, with these arguments."""

    def launch(device: torch.device, arguments: Sequence[Any]) -> None:
        with torch.cuda.device(device):
            compiled(text, device)(grid=(_blocks(device), 1, 1), block=(BLOCK, 1, 1), args=list(arguments))

    return launch
