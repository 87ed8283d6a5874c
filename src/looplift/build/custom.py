"""The text of a library around a user's C++ function in, a callable over the memory of many calls' arguments out."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from looplift.base.errors import NotLiftable
from looplift.build import compiler
from looplift.runtime.custom import Lanes
from looplift.runtime.signatures import Signature

_ERRORS = {1: RuntimeError, 2: ValueError, 3: IndexError, 4: MemoryError}
_ROOM = 2000
"""Bytes of a message that the function throws."""
_Message = ctypes.c_char * _ROOM


def lanes_of(source: str, around: str, name: str, signature: Signature) -> Lanes:
    """Calls the function of ``source`` once for each lane, by the C++ ``around`` it. Raises ValueError where it is not
    what the signature says, RuntimeError where it cannot be compiled."""
    try:
        path = compiler.library(source + around, compiler.OF_USERS)
    except compiler.Refused as refusal:
        raise _explained(source, refusal.output, name, signature) from None
    except NotLiftable as refusal:
        hint = "install g++ or clang++, or let the environment variable CXX name one"
        raise RuntimeError(f"looplift.op: '{name}' cannot be compiled: {refusal.message}; {hint}") from None
    function = ctypes.CDLL(str(path)).looplift_lanes
    function.argtypes = [ctypes.c_int64] * 2 + [ctypes.c_void_p] * 5 + [ctypes.c_char_p] + [ctypes.c_int64] * 2

    def call(lanes: Sequence[int], arrays: Sequence[torch.Tensor], active: Any, sizes: Sequence[int]) -> None:
        steps = [step for one in arrays for step in one.stride()[: len(lanes)]] if lanes else []
        total = 1
        for extent in lanes:
            total *= extent
        message = _Message()
        places = [_numbers(lanes), _numbers(steps), (ctypes.c_void_p * len(arrays))(*(a.data_ptr() for a in arrays))]
        chosen = None if active is None else active.data_ptr()
        threads = torch.get_num_threads() if lanes else 1
        outcome = function(total, len(lanes), *places, chosen, _numbers(sizes), message, _ROOM, threads)
        if outcome:
            raise _ERRORS[outcome](message.value.decode(errors="replace"))

    return call


BLOCK, GRID = 128, 65_535
"""Threads of a block, and the most blocks; with more lanes each thread takes several."""


def on_cuda(text: str, name: str, compiled: Callable[[str, str], Callable[..., None]] | None = None) -> Lanes:
    """Calls a kernel of CUDA for all lanes. NVRTC compiles it, through torch, when it is first called on a device.

    ``compiled`` stands in for ``torch.cuda._compile_kernel``. Raises RuntimeError where the text is refused.
    """

    @functools.cache
    def kernel_on(device: torch.device) -> Callable[..., None]:
        try:
            return (compiled or torch.cuda._compile_kernel)(text, "looplift_lanes")
        except RuntimeError as refusal:
            raise RuntimeError(f"looplift.op: the CUDA compiler refused '{name}':\n\n{refusal}") from None

    def call(lanes: Sequence[int], arrays: Sequence[torch.Tensor], active: Any, sizes: Sequence[int]) -> None:
        device, total = arrays[-1].device, math.prod(lanes)
        steps = [step for one in arrays for step in one.stride()[: len(lanes)]]
        layout = torch.tensor([total, len(lanes), active is not None, *lanes, *steps, *sizes], device=device)
        grid = min(GRID, -(-total // BLOCK))
        if not grid:
            return
        chosen = layout if active is None else active
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            kernel_on(device)(grid=(grid, 1, 1), block=(BLOCK, 1, 1), args=[layout, chosen, *arrays])

    return call


def _numbers(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(1, len(values)))(*values)


def _explained(source: str, output: str, name: str, signature: Signature) -> Exception:
    """The error for what the compiler says: the user's text is compiled alone, to tell which of the two is wrong."""
    try:
        compiler.library(source, compiler.OF_USERS)
    except compiler.Refused as refusal:
        return RuntimeError(f"looplift.op: the compiler refused '{name}':\n\n{refusal.output.strip()}")
    wanted = signature.declaration(name)
    return ValueError(f"looplift.op: by its signature the C++ function must be\n\n    {wanted}\n\n{output.strip()}")
