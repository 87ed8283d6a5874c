"""Tensors that types of torch's make, ``torch.LongTensor(ids)``, in; the same by torch.tensor and torch.empty out.

torch.LongTensor(ids)           torch.tensor(ids, dtype=torch.int64)
torch.FloatTensor(n, 3)         torch.empty(n, 3, dtype=torch.float32)
torch.Tensor(rows)              torch.tensor(rows, dtype=torch.get_default_dtype())
"""

from __future__ import annotations

import torch

from looplift.analysis import probe
from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import Block, Const, Function, If, Let, Loop, Op, Statement, as_atom
from looplift.ops.names import TENSOR_TYPES


def with_plain_constructors(function: Function) -> Function:
    """The function without calls of types of tensors; NotLiftable where one makes something else of its argument."""
    return replace(function, body=_Plain(probe.analyse(function)).block(function.body))


@dataclass
class _Plain:
    facts: Facts

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.statement, block)))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(then=then, orelse=orelse):
                return replace(statement, then=self.block(then), orelse=self.block(orelse))
            case Loop(body=body):
                return replace(statement, body=self.block(body))
            case Let(op=op) if op.name in TENSOR_TYPES:
                return replace(statement, op=self.constructor(op, statement))
        return statement

    def constructor(self, op: Op, statement: Let) -> Op:
        name = TENSOR_TYPES[op.name]
        dtype = getattr(torch, name) if name else torch.get_default_dtype()
        kinds = [self.facts.kind(as_atom(argument)) for argument in op.args] if not op.kwargs else []
        kwargs = (("dtype", Const(dtype, str(dtype))),)
        if kinds and all(kind.family == "int" for kind in kinds):
            return Op("torch.empty", op.args, kwargs)
        if len(kinds) == 1 and (_is_of_floats(kinds[0], dtype) or _holds(kinds[0], dtype)):
            return Op("torch.tensor", op.args, kwargs)
        raise NotLiftable("unknown-op", f"'{op.name}' of other than numbers in lists", statement.span)


def _is_of_floats(kind: Kind, dtype: torch.dtype) -> bool:
    """Whether an array of floats is copied into a tensor of floats."""
    return kind.family == "array" and kind.dtype.kind == "f" and dtype.is_floating_point


def _holds(kind: Kind, dtype: torch.dtype) -> bool:
    """Whether a list is of numbers that the dtype does not cut off."""
    if kind.family in ("list", "tuple"):
        return bool(kind.items) and all(_holds(item, dtype) for item in kind.items)
    whole = kind.family in ("int", "bool") or (kind.family == "tensor" and not kind.dtype.is_floating_point)
    return (kind.is_number or (kind.family == "tensor" and not kind.rank)) and (whole or dtype.is_floating_point)
