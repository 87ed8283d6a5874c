"""A device that is none: tensors in memory count as a CUDA device's, and the CPU runs kernels, thread after thread."""

import ctypes
from contextlib import nullcontext

import numpy as np
import torch

from looplift.base.errors import NotLiftable
from looplift.build import compiler, cuda
from looplift.emit import cuda as emitted
from looplift.emit import native_whole, typed

STAND_IN = """
#include <math.h>
#define __global__
struct Index { unsigned x; };
static Index blockIdx, blockDim, threadIdx, gridDim;
static void atomicMin(unsigned long long* place, unsigned long long value) {
  if (value < *place) *place = value;
}
"""
LAUNCH = """
extern "C" void launch(unsigned grid, unsigned block, const int64_t* order, void** a) {{
  gridDim.x = grid, blockDim.x = block;
  for (unsigned k = 0; k < grid * block; ++k) {{
    blockIdx.x = order[k] / block, threadIdx.x = order[k] % block;
    loop_lanes({arguments});
  }}
}}
"""


def compiled(text: str, order):
    """What torch makes of a text; the threads of a launch run in an order, ``order(count)``."""
    parameters = text.rpartition("void loop_lanes(")[2].partition(") {")[0].replace("\n", " ").split(",")
    types = [parameter.strip().rpartition(" ")[0] for parameter in parameters]
    arguments = [f"({kind})a[{k}]" if "*" in kind else f"*({kind}*)a[{k}]" for k, kind in enumerate(types)]
    whole = STAND_IN + text + LAUNCH.format(arguments=", ".join(arguments))
    function = ctypes.CDLL(str(compiler.library(whole, compiler.OF_USERS))).launch

    def kernel(*, grid, block, args):
        assert grid[1:] == block[1:] == (1, 1)
        numbers = {k: ctypes.c_double(one) for k, one in enumerate(args) if isinstance(one, float)}
        places = [ctypes.addressof(numbers[k]) if k in numbers else one.data_ptr() for k, one in enumerate(args)]
        threads = np.ascontiguousarray(order(grid[0] * block[0]), dtype=np.int64)
        function(grid[0], block[0], threads.ctypes.data_as(ctypes.c_void_p), (ctypes.c_void_p * len(args))(*places))

    return kernel


def pretend(monkeypatch, order=np.arange, blocks=2, block=4) -> list[str]:
    """Let tensors in memory be those of a device from now on; gives the texts that are compiled for it."""
    texts = []

    def on_the_stand_in(text, device):
        kernel = compiled(text, order)
        texts.append(text)
        return kernel

    def no_other_form(*arguments, **options):
        raise NotLiftable("device", "a form for the CPU alone")

    monkeypatch.setattr(emitted, "device_of", lambda tensor: torch.device("cuda", 0))
    monkeypatch.setattr(native_whole, "whole_region", no_other_form)
    monkeypatch.setattr(typed, "typed_program", no_other_form)
    monkeypatch.setattr(cuda, "compiled", on_the_stand_in)
    monkeypatch.setattr(cuda, "home_of", lambda *tensors: tensors[0].device)
    monkeypatch.setattr(cuda, "_blocks", lambda device: blocks)
    monkeypatch.setattr(cuda, "BLOCK", block)
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    return texts
