"""Values of rows in; what is required of them, so that a gradient of one row alone is zero for the others.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
from typing import Any

import torch


class Slopes:
    """Zeros that come back to rows which nobody asked about must not become NaN on their way."""

    def __init__(self, given=()):
        self.given = given
        self.steep = False
        self.notes: Any = []
        self.wrapped: Any = {}

    def noted(self, value, what):
        """The values of many rows, which will be asked to be finite, or not zero as well."""
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if one.requires_grad and one.shape[0] > 1:
                self.notes.append((one.detach(), what))
        return value

    def check_slopes(self, tables):
        """Raise where a derivative may be infinite: all that is given and computed must be finite."""
        if not self.steep or not torch.is_grad_enabled():
            return
        found = {}
        for table in tables:
            for value in (
                [handle.table.value for handle in table.where if handle is not None] if table.where else [table.value]
            ):
                found[id(value)] = value
        computed = [value for value in found.values() if isinstance(value, torch.Tensor)]
        if not any([value.requires_grad and value.dim() and value.shape[0] > 1 for value in computed]):
            return
        given = [value for value in self.given if isinstance(value, torch.Tensor)]
        given += [handle.table.value for handle in self.wrapped.values()]
        self.check_finite([*given, *computed, *[value for value, _ in self.notes]])
        for value, what in self.notes:
            if what == "edged" or (what == "nonzero" and not value.all()):
                raise NotImplementedError("a gradient of one row alone may be NaN for the others")

    def check_finite(self, values):
        """Raise where an element is infinite or NaN; none is where the sum of all is not."""
        values = [value.detach() for value in values if value.is_floating_point() or value.is_complex()]
        for value in values:
            total = value.sum() if value.element_size() > 2 else value.sum(dtype=torch.float32)
            if not abs(total.item()) < float("inf") and not value.isfinite().all():
                raise NotImplementedError("a gradient of one row alone may be NaN for the others")


# --- end ---
