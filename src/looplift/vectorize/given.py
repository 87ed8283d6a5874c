"""Facts in; which arrays of the caller are finite at the call that the variant is made for, so that it may be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from looplift.ir.facts import Facts


def finite_at_first(facts: Facts) -> Callable[[str], bool]:
    """Whether the tensor of a name has no element that is infinite or NaN."""
    names = {path: var for var, path in facts.function.attributes["paths"].items()}

    @cache
    def is_finite(path: str) -> bool:
        import torch

        sample = facts.of[names[path]].sample if path in names else None
        if not isinstance(sample, torch.Tensor) or not sample.is_floating_point():
            return False
        with torch.no_grad():
            return bool(torch.isfinite(sample.sum()))

    return is_finite
