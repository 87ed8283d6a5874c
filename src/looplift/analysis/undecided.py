"""Arithmetic of a tensor and of what is a Python integer in some iterations and a float or tensor in others, in; a
reason where PyTorch computes the two in different dtypes, out.

s = 3000000001 if k % 3 else y[k]        y: int64
r = s * x[k]                             x: uint8, which PyTorch takes the number as; with ``y[k]`` it computes in int64
"""

from __future__ import annotations

from collections.abc import Set

import torch

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Let, operands


def check_dtypes(facts: Facts, let: Let, mixed: Set[Atom]) -> None:
    """Raises NotLiftable where the number would be taken as what the tensor in its place is not, or an integer as what
    the float in its place is not."""
    given = [(atom in mixed, facts[atom]) for atom in operands(let.op)]
    for tensor in (one.sample for is_mixed, one in given if one.kind.family == "tensor" and not is_mixed):
        for kind, sample in ((one.kind, one.sample) for is_mixed, one in given if is_mixed):
            if kind.family not in ("tensor", "float"):
                continue
            is_float = kind.family == "float" or sample.dtype.is_floating_point
            taken = {torch.result_type(tensor, number) for number in ((1, 1.0) if is_float else (1,))}
            if kind.family == "tensor":
                taken.add(torch.result_type(tensor, sample))
            if len(taken) > 1:
                text = "a number in some iterations, and a tensor or another type of number in others,"
                raise NotLiftable("mixed-kinds", f"{text} meets a tensor of {tensor.dtype}", let.span)
