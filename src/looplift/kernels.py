"""The operators that ``looplift.op`` made in this process, by their names: lifted loops call them from here."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """``looplift.kernels.warp`` is what ``looplift.op("warp", ...)`` gave; a second one of that name is ``warp_2``."""
    from looplift.runtime.custom import made

    if name in made:
        return made[name]
    raise AttributeError(f"no operator '{name}' was made by looplift.op in this process")
