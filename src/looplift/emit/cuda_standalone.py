"""A kernel for a CUDA device as a Python text of its own: its C++ in a string, and what compiles and launches it."""

from __future__ import annotations

from looplift.ir.kernel import OUTCOMES, Kernel
from looplift.ir.kernel_launch import BLOCK, BLOCKS, ENTRY, OPTIONS

_LOADER = f'''\
import functools

import torch

_OUTCOMES = (
{"".join(f"    {text!r},{chr(10)}" for text in OUTCOMES.values())})


def failed(outcome):
    """The error for what a kernel noted."""
    return RuntimeError(_OUTCOMES[outcome])


def home_of(*tensors):
    """The one CUDA device that tensors are on."""
    device = tensors[0].device
    if device.type != "cuda" or any(tensor.device != device for tensor in tensors):
        raise TypeError("a kernel's tensors must all be on one CUDA device")
    return device


@functools.cache
def _compiled(source, device):
    """The kernel of CUDA C++, by NVRTC, and the number of blocks that it is launched with."""
    with torch.cuda.device(device):
        kernel = torch.cuda._compile_kernel(source, "{ENTRY}", nvcc_options={[*OPTIONS]})
    return kernel, {BLOCKS} * torch.cuda.get_device_properties(device).multi_processor_count


def _launch(source, device, arguments):
    kernel, blocks = _compiled(source, device)
    with torch.cuda.device(device):
        kernel(grid=(blocks, 1, 1), block=({BLOCK}, 1, 1), args=arguments)
'''


def standalone_text(kernel: Kernel) -> str:
    """A Python text that defines a function with the kernel's name; it needs torch, and a device."""
    source = f'{kernel.name}_source = r"""\n{kernel.source}"""'
    caller = kernel.caller.replace("launch(", f"_launch({kernel.name}_source, ", 1)
    return f"{_LOADER}\n\n{source}\n\n\n{caller}"
