"""Where torch makes tensors that are given no device."""

from __future__ import annotations

import torch
from torch.utils._device import DeviceContext


def modes_of_functions() -> int | torch.device:
    """How many modes watch torch's functions; where it is that of ``torch.set_default_device`` alone, the device."""
    count = torch._C._len_torch_function_stack()
    if count != 1:
        return count
    mode = torch._C._get_function_stack_at(0)
    return mode.device if type(mode) is DeviceContext else count


def default_device() -> torch.device | None:
    """The device that ``torch.set_default_device``, or ``with torch.device(...)``, names; None for the CPU."""
    found = modes_of_functions()
    return found if isinstance(found, torch.device) and found.type != "cpu" else None
