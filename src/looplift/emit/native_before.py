"""What a library computes before a kernel: calls in front of all loops, as ``np.argsort``, that C++ has no form for.

order = np.argsort(w)              order = np.argsort(w)
for k in order:                    parent, edges = spanning_tree_kernel(w, u, v, order)
    ...
"""

from __future__ import annotations

import numpy as np
import torch

from looplift.base.data import replace
from looplift.base.spans import Span
from looplift.ir.grammar import Block, Const, Function, Group, Let, Operand, Var, operands
from looplift.ops.evaluate import evaluate

_FUNCTIONS = frozenset(
    """argsort sort lexsort unique flatnonzero argwhere searchsorted digitize bucketize bincount cumsum isin
    nonzero""".split()
)
"""Functions of arrays that make a new one, and depend on nothing else."""
_ARITHMETIC = {"neg": "-{}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}"}


def computed_before(function: Function, span: Span, known: tuple[Let, ...]) -> tuple[Let, ...]:
    """The calls that a library makes first, where the one at ``span`` is among them, too; none if it cannot be."""
    lets: dict[Var, Let] = {}
    for statement in function.body:
        if not isinstance(statement, Let) or statement.op.name.startswith("inplace."):
            break
        lets[statement.var] = statement
    wanted = next((one for one in lets.values() if one.span == span and span.line and _is_call(one)), None)
    if wanted is None or wanted in known:
        return ()
    needed: set[Var] = {one.var for one in known}
    pending = [wanted.var]
    while pending:
        var = pending.pop()
        if var in function.params or var in needed:
            continue
        if var not in lets or not (_is_call(lets[var]) or lets[var].op.name in _ARITHMETIC):
            return ()
        needed.add(var)
        pending += [atom for atom in operands(lets[var].op) if isinstance(atom, Var)]
    return tuple(one for var, one in lets.items() if var in needed)


def _is_call(let: Let) -> bool:
    namespace, _, short = let.op.name.rpartition(".")
    return namespace in ("np", "torch", "method") and short in _FUNCTIONS


def without(function: Function, before: tuple[Let, ...]) -> Function | None:
    """The function that takes what was computed before, too; None where that is no array of numbers."""
    attributes = dict(function.attributes)
    values, paths = dict(attributes["values"]), dict(attributes["paths"])
    taken = {*paths.values(), *attributes.get("names", ())}
    for let in before:
        values[let.var] = evaluate(let.op, lambda atom: values[atom] if isinstance(atom, Var) else atom.value)
        if type(values[let.var]) not in (np.ndarray, torch.Tensor):
            return None
        paths[let.var] = _fresh(let.var.hint, taken)
        taken.add(paths[let.var])
    attributes |= {"values": values, "paths": paths}
    body = Block(tuple(one for one in function.body if one not in before))
    params = (*function.params, *(let.var for let in before))
    return replace(function, params=params, body=body, attributes=attributes)


def _fresh(hint: str, taken: set[str]) -> str:
    base = hint if hint.isidentifier() else "value"
    return next(name for k in range(len(taken) + 1) if (name := f"{base}_{k}" if k else base) not in taken)


def warns(before: tuple[Let, ...]) -> bool:
    """Whether NumPy may warn of what is computed."""
    return any(let.op.name in _ARITHMETIC for let in before)


def lines_of(before: tuple[Let, ...], paths: dict[Var, str]) -> list[str]:
    return [f"{paths[let.var]} = {_text(let, paths)}" for let in before]


def _text(let: Let, paths: dict[Var, str]) -> str:
    op = let.op
    args = [_operand(argument, paths) for argument in op.args]
    if op.name in _ARITHMETIC:
        return _ARITHMETIC[op.name].format(*args)
    words = [f"{name}={_operand(argument, paths)}" for name, argument in op.kwargs]
    namespace, _, short = op.name.rpartition(".")
    if namespace == "method":
        return f"{args[0]}.{short}({', '.join([*args[1:], *words])})"
    return f"{op.name}({', '.join([*args, *words])})"


def _operand(operand: Operand, paths: dict[Var, str]) -> str:
    match operand:
        case Group(items=items):
            return f"({''.join(f'{_operand(item, paths)}, ' for item in items).strip()})"
        case Const(value=value):
            return repr(value)
        case Var():
            return paths[operand]
    raise AssertionError(operand)
