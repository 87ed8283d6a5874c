"""``round(x, digits)`` of Python's floats, which rounds to the double next to the decimal number next to ``x``."""

from __future__ import annotations

from typing import Any

MOST = 22
"""The greatest power of ten that a double holds exactly is 10**22."""


def factor(digits: Any) -> float | None:
    """10 to the power of the digits, if they are known and a double holds it; negative ones are none."""
    return float(10**digits) if type(digits) is int and 0 <= digits <= MOST else None
