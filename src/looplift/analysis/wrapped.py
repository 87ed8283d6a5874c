"""NumPy's functions of tensors: NumPy computes an array, and PyTorch makes a tensor of it. A reason where that differs
from what PyTorch's function of the same name gives.

np.isnan(x[i])        uint8, where torch.isnan gives bool
np.sqrt(k[i])         of integers float64, where torch.sqrt gives float32
np.sign(x[i])         NaN of NaN, where torch.sign gives 0
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import torch

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import If, Let, Var, operands, uses, walk
from looplift.ops.names import OTHERWISE
from looplift.ops.table import base_name


def check_wrapped(facts: Facts, let: Let) -> None:
    """Raises NotLiftable for a function of NumPy's whose tensors are not those of PyTorch's function."""
    if not _computes_arrays(let.op.name) or not (kind := facts.kind(let.var)).is_array:
        return
    given = [facts[atom] for atom in operands(let.op) if isinstance(atom, Var)]
    dtypes = [one.kind.dtype for one in given if one.kind.family == "tensor"]
    if not dtypes or kind.family != "tensor" or not any(one.loops for one in given):
        return
    as_theirs = kind.dtype == reduce(torch.promote_types, dtypes)
    if _is_test(let.op.name):
        as_theirs = str(kind.dtype) == "torch.uint8" and _only_asked(facts, let.var)
    if base_name(let.op.name) in OTHERWISE or not as_theirs:
        text = f"'{let.op.name}' makes another tensor of a tensor than PyTorch's own functions do"
        raise NotLiftable("unknown-op", text, let.span)


def _computes_arrays(name: str) -> bool:
    """Whether it is a function that NumPy computes itself: others, as ``np.argmax``, call the tensor's own method."""
    return name.startswith("np.") and (name == "np.clip" or isinstance(getattr(np, name[3:], None), np.ufunc))


def _is_test(name: str) -> bool:
    """Whether NumPy's function gives truths, of which PyTorch makes uint8."""
    return any(one in ("d->?", "dd->?") for one in getattr(getattr(np, name[3:], None), "types", ()))


def _only_asked(facts: Facts, var: Var) -> bool:
    """Whether a value is only asked whether it is true."""
    if any(atom is var for _, atom in facts.function.results):
        return False
    for statement in walk(facts.function.body):
        match statement:
            case If(cond=cond, phis=phis) if cond is var and all(var not in (p.then, p.orelse) for p in phis):
                continue
            case Let(op=op) if op.name in ("not", "builtin.bool"):
                continue
            case _ if var in uses(statement):
                return False
    return True
