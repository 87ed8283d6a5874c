"""looplift runs loops over tensors and arrays as batched code."""

from looplift.api import lift

__all__ = ["lift"]
__version__ = "0.1.0"
