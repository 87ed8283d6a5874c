"""Nothing in; NumPy's random generators out, where somebody uses them, and what PyTorch's give.

NumPy imports ``numpy.random`` when it is first asked for, which takes as long as a small lift. Until then nobody has
drawn from it: its global generator has no state that anyone could miss.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


def numpy_random() -> Any:
    """The module ``numpy.random``; None while nothing in this process has asked for it."""
    return sys.modules.get("numpy.random")


def numpy_state() -> Any:
    """The state of NumPy's global generator; None while there is none."""
    module = numpy_random()
    return None if module is None else module.get_state()


def set_numpy_state(state: Any) -> None:
    """Put back what ``numpy_state`` gave."""
    if state is not None:
        numpy_random().set_state(state)


def numpy_generators() -> tuple[type, ...]:
    """The classes of NumPy's generators that keep a state of their own."""
    module = numpy_random()
    return () if module is None else (module.Generator, module.RandomState)


@cache
def numbers_alike() -> bool:
    """Whether one draw of uniform numbers by PyTorch gives those of many, and leaves the generator as many do."""
    import torch

    for dtype in (torch.float32, torch.float64):
        one, many = (torch.Generator().manual_seed(0) for _ in range(2))
        together = torch.rand(67, 3, dtype=dtype, generator=one)
        apart = [torch.rand(3, dtype=dtype, generator=many) for _ in range(67)]
        if not torch.equal(together, torch.stack(apart)) or not torch.equal(one.get_state(), many.get_state()):
            return False
    return True
