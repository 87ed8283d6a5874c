"""The least and greatest numbers of dtypes, which are known before the loop runs: ``torch.finfo(x.dtype).min``."""

from __future__ import annotations

from typing import Any

from looplift.base.data import replace
from looplift.ir.grammar import Const, Function, Let, Op, Operand, Var, uses, walk
from looplift.ir.started import Changes
from looplift.ops.names import LIMITS, callable_of

OPERATIONS = frozenset(f"{library}.{name}" for library in ("torch", "np") for name in LIMITS)


def known_limits(function: Function) -> Function:
    """The same function with these numbers as constants, where the dtype is written out or that of an argument."""
    values = function.attributes.get("values", {})
    lets = [statement for statement in walk(function.body) if isinstance(statement, Let)]
    made = {let.var: let.op for let in lets}
    changes, known = Changes({}, {}), set()
    for let in lets:
        if let.op.name == "attribute" and (number := _number(let.op, made, values)) is not None:
            changes.statements[id(let)] = (replace(let, op=Op("copy", (Const(number),))),)
            known.add(let.op.args[0])
    unchanged = (s for s in walk(function.body) if id(s) not in changes.statements)
    read = {atom for statement in unchanged for atom in uses(statement)} | {atom for _, atom in function.results}
    changes.statements |= {id(let): () for let in lets if let.var in known - read}
    return replace(function, body=changes.block(function.body))


def _number(attribute: Op, made: dict[Var, Op], values: dict[Any, Any]) -> Any:
    """What an attribute of such a description is, if that is a number and known."""
    import numpy as np

    owner, name = attribute.args
    op = made.get(owner) if isinstance(owner, Var) else None
    if op is None or op.name not in OPERATIONS or len(op.args) != 1 or op.kwargs or not isinstance(name, Const):
        return None
    if (dtype := _dtype(op.args[0], made, values)) is None:
        return None
    try:
        found = getattr(callable_of(op.name)(dtype), name.value, None)
    except (TypeError, ValueError):  # the loop raises it
        return None
    return found if isinstance(found, (int, float, np.generic)) else None


def _dtype(operand: Operand, made: dict[Var, Op], values: dict[Any, Any]) -> Any:
    """A dtype that is written out, or that of an argument or of a part of one; None for any other."""
    import numpy as np
    import torch

    if isinstance(operand, Const):
        return operand.value
    op = made.get(operand) if isinstance(operand, Var) else None
    if op is None or op.name != "attribute" or op.args[1] != Const("dtype"):
        return None
    owner = op.args[0]
    while isinstance(owner, Var) and owner not in values:
        op = made.get(owner)
        if op is None or op.name not in ("getitem", "iter_item"):
            return None
        owner = op.args[0]
    value = values.get(owner) if isinstance(owner, Var) else None
    return value.dtype if isinstance(value, torch.Tensor | np.ndarray) else None
