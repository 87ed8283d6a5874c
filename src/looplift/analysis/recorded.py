"""Which values of a function may have a history: a gradient flows back from them to a tensor that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    UNRECORDED,
    Append,
    Atom,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Statement,
    Store,
    Var,
    atoms,
    operands,
    walk,
)
from looplift.ops.table import ARITHMETIC, CONVERSIONS, CREATION, family

ITEMS = frozenset("getitem iter_item unpack attribute".split())
"""They hand out what a list or an object holds, or a view of a tensor."""
HOLDING = ITEMS | frozenset("tuple list copy zipped zipped_lists mapping iter_len builtin.len".split())
"""They compute nothing: what they hand out is what was there before, if it is not of a tensor."""
CHOOSING = ("builtin.max", "builtin.min")
"""They hand out one of their operands."""
COMPUTING = ("elementwise", "reduction", "along", "contraction", "blocked", "random")
MAKING = frozenset(
    """stack cat concat where tensor topk kthvalue mode gather take take_along_dim index_select masked_fill index_fill
    index_add scatter scatter_add tril triu""".split()
)
"""Operations beyond these families and of torch's or tensors' own whose results have memory of their own."""
LIBRARIES = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "module")
PASSING = CONVERSIONS | frozenset("pos positive real conj resolve_conj resolve_neg".split())
"""Those of them that may hand out the very tensor that they are given, or a view of it."""
DETACHING = ("method.detach", "method.numpy", "method.item", "method.tolist")
LIKE = frozenset(
    """zeros_like ones_like empty_like full_like rand_like randn_like new_zeros new_ones new_full new_empty""".split()
)
"""They take no more of a tensor than its shape and kind."""


class Histories:
    """Which variables may have a history, or hold something that has one.

    What is computed under ``torch.no_grad()`` has none. A view that is made there asks for a gradient all the same.
    """

    def __init__(self, function: Function, facts: Facts):
        self.facts = facts
        self.lets = {s.var: s for s in lets_of(function)}
        self.found: set[Atom] = {var for var in function.params if has_history(function.attributes["values"][var])}
        self.found |= set(function.attributes["leaves"])
        count = -1
        while count != len(self.found):
            count = len(self.found)
            for statement in walk(function.body):
                self._visit(statement)

    def has(self, atom: Atom) -> bool:
        return atom in self.found or (isinstance(atom, Const) and has_history(atom.value))

    def reach(self, op: Op) -> bool:
        """Whether an operation's operands have a history, or its result has one anyhow."""
        if not asks(op) and (op.name in DETACHING or op.name.rpartition(".")[2] in LIKE or _is_alone(op)):
            return False
        return op.name == "call" or asks(op) or any(map(self.has, operands(op)))

    def is_handed_on(self, let: Let) -> bool:
        """Whether a value was there before the statement: an item of a list, not a view of a tensor."""
        if let.op.name not in HOLDING:
            return let.op.name in CHOOSING
        return let.op.name not in ITEMS or not self.facts.kind(first(let.op)).is_array

    def is_new(self, let: Let) -> bool:
        """Whether an operation surely makes tensors with memory of their own."""
        name, base = let.op.name, let.op.name.rpartition(".")[2]
        sample = self.facts[let.var].sample
        if any(self.facts[atom].sample is sample for atom in operands(let.op) if isinstance(atom, Var)):
            return False
        if base in PASSING or base.endswith("_") or name.startswith("inplace.") or name in CHOOSING:
            return False
        if family(name) in COMPUTING or name in CREATION or name in ARITHMETIC or name.startswith(LIBRARIES):
            return True
        return name == "builtin.sum" or (base in MAKING and name.startswith(("torch.", "method.")))

    def _add(self, var: Atom, source: bool) -> None:
        if not source or not isinstance(var, Var):
            return
        kind = self.facts.kind(var) if var in self.facts.of else None
        if kind is None or not (kind.is_number or (kind.is_array and not is_inexact(kind.dtype))):
            self.found.add(var)

    def _write(self, ref: Atom) -> None:
        """What is written to has a history then, and so has what it is a view or an item of."""
        while isinstance(ref, Var) and ref not in self.found:
            self.found.add(ref)
            let = self.lets.get(ref)
            if let is None or not let.op.args or (let.op.name != UNRECORDED and self.is_new(let)):
                return
            ref = first(let.op)

    def _visit(self, statement: Statement) -> None:
        match statement:
            case Let(var=var, op=Op(name="unrecorded", args=(Var() as inner,))):
                self._add(var, inner in self.found and not self.is_new(self.lets[inner]))
            case Let(var=var, op=op):
                reached = self.reach(op)
                self._add(var, reached)
                if reached and op.args and (op.name.startswith("inplace.") or op.name.endswith("_")):
                    self._write(first(op))
            case Store(ref=ref, value=value) | Append(ref=ref, value=value):
                if self.has(value):
                    self._write(ref)
            case If(phis=phis):
                for phi in phis:
                    self._add(phi.var, self.has(phi.then) or self.has(phi.orelse))
            case Loop(carries=carries):
                for carry in carries:
                    self._add(carry.inside, self.has(carry.init) or self.has(carry.next))
                    self._add(carry.after, carry.inside in self.found or self.has(carry.init))


def lets_of(function: Function) -> Iterator[Let]:
    return (s for s in walk(function.body) if isinstance(s, Let))


def _is_alone(op: Op) -> bool:
    """Whether it is a gradient of which no graph is made."""
    return op.name == "slope_of" and dict(op.kwargs)["creates"] == Const(False)


def first(op: Op) -> Atom:
    """The first operand of an operation, or the first part of it."""
    return next(iter(atoms(op.args[0])))


def is_inexact(dtype: Any) -> bool:
    """Whether gradients are defined for a dtype."""
    return getattr(dtype, "is_floating_point", False) or getattr(dtype, "is_complex", False)


def asks(op: Op) -> bool:
    """Whether an operation makes a tensor that asks for a gradient by itself."""
    return any(key == "requires_grad" for key, _ in op.kwargs) or "requires_grad" in op.name or "Parameter" in op.name


def has_history(value: Any) -> bool:
    """Whether a live-in is, or holds, a tensor that a gradient flows to; of an object that is not known."""
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        return value.requires_grad
    if isinstance(value, torch.nn.Module):
        return any(parameter.requires_grad for parameter in value.parameters())
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(has_history, value))
    if isinstance(value, dict):
        return any(map(has_history, value.values()))
    plain = (int, float, complex, str, bytes, range, type(None), np.ndarray, np.generic, torch.dtype, torch.device)
    return not isinstance(value, plain) and not callable(value) and hasattr(value, "__dict__")
