"""Nothing in; NumPy's random generators out, where somebody uses them.

NumPy imports ``numpy.random`` when it is first asked for, which takes as long as a small lift. Until then nobody has
drawn from it: its global generator has no state that anyone could miss.
"""

from __future__ import annotations

import sys
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
