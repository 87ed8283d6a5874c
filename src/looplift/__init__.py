"""looplift runs loops over tensors and arrays as batched code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from looplift.api import export, lift, load
from looplift.base.errors import LoopliftWarning
from looplift.operators import op

if TYPE_CHECKING:
    from looplift.verify import check

__all__ = ["LoopliftWarning", "check", "export", "lift", "load", "op"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """``check`` is imported when it is first asked for, so that importing the package stays quick."""
    if name == "check":
        from looplift.verify import check

        return check
    raise AttributeError(f"module 'looplift' has no attribute '{name}'")
