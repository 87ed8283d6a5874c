"""Sizes of a function in, whether two of them are the same number out, by what they are the lengths of.

h = [x[i] for i in range(x.shape[0])]       len(h), len(x) and x.shape[0] are one number
for _ in range(rounds):
    h = [f(h[i]) for i in range(len(h))]    and len(h) stays it
"""

from __future__ import annotations

from collections.abc import Mapping

from looplift.ir.facts import Facts
from looplift.ir.filled import SIZES, counts_up
from looplift.ir.grammar import (
    Append,
    Atom,
    Carry,
    Const,
    Function,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Range,
    Statement,
    Var,
    uses,
    walk,
)

LENGTHS = frozenset(("iter_len", "builtin.len"))


Known = Mapping[Atom, Operand | None]


class Lengths:
    """What each size is the length of: a tensor, or a list that one loop fills."""

    def __init__(self, function: Function, facts: Facts):
        self.facts = facts
        self.statements = list(walk(function.body))
        self.lets = {s.var: s for s in self.statements if isinstance(s, Let)}
        self.home = {s: loop for loop in self.statements if isinstance(loop, Loop) for s in loop.body}
        carries = [carry for loop in self.statements if isinstance(loop, Loop) for carry in loop.carries]
        self.carries: dict[Var, Carry] = {var: carry for carry in carries for var in (carry.inside, carry.after)}

    def same(self, one: Operand, other: Operand) -> bool:
        """Whether two sizes are computed alike."""
        one, other = self._measured(one, {}), self._measured(other, {})
        if isinstance(one, Const) and isinstance(other, Const):
            return type(one.value) is type(other.value) and bool(one.value == other.value)
        if one is other or not isinstance(one, Var) or not isinstance(other, Var):
            return one is other
        first, second = self.lets.get(one), self.lets.get(other)
        if first is None or second is None or first.op.name not in SIZES or second.op.name not in SIZES:
            return False
        if first.op.name != second.op.name and not {first.op.name, second.op.name} <= LENGTHS:
            return False
        if len(first.op.args) != len(second.op.args) or first.op.kwargs or second.op.kwargs:
            return False
        return all(self.same(a, b) for a, b in zip(first.op.args, second.op.args, strict=True))

    def _measured(self, size: Operand, known: Known) -> Operand:
        """The tensor whose length a size is, or the size that a list has by the loop that fills it; else the size."""
        match self.lets.get(size) if isinstance(size, Var) else None:
            case Let(op=Op(name="builtin.len" | "iter_len", args=[Var() as owner])):
                return self._of(owner, known) or size
            case Let(op=Op(name="method.size", args=[Var() as owner, Const(value=0)])):
                return self._of(owner, known) or size
            case Let(op=Op(name="getitem", args=[Var() as shape, Const(value=0)])):
                match self.lets.get(shape):
                    case Let(op=Op(name="attribute", args=[Var() as owner, Const(value="shape")])):
                        return self._of(owner, known) or size
        return size

    def _of(self, owner: Atom, known: Known) -> Operand | None:
        """The size of a list or tensor; ``known``: what carried ones are taken to have, until their next ones are seen
        to."""
        if owner in known or not isinstance(owner, Var):
            return known.get(owner)
        if (carry := self.carries.get(owner)) is not None:
            first = self._of(carry.init, known)
            again = self._of(carry.next, {**known, carry.inside: first})
            return first if first is not None and again is first else None
        made = self.lets.get(owner)
        if owner in self.facts.of and self.facts.kind(owner).is_array:
            stacked = made is not None and made.op.name == "torch.stack" and len(made.op.args) == 1
            listed = made.op.args[0] if made is not None and stacked and not made.op.kwargs else None
            return self._of(listed, known) if isinstance(listed, Var) else owner
        return self._of_list(made, known) if made is not None else None

    def _of_list(self, made: Let, known: Known) -> Operand | None:
        owner = made.var
        if made.op.name != "list" or made.op.args or any(map(self._changes(owner), self.statements)):
            return None
        filled = [s for s in self.statements if isinstance(s, Append) and s.ref is owner]
        loop = self.home.get(filled[0]) if len(filled) == 1 else None
        if loop is None or not counts_up(loop) or not isinstance(loop.domain, Range):
            return None
        return self._measured(loop.domain.hi, known) if self.home.get(made) is self.home.get(loop) else None

    @staticmethod
    def _changes(owner: Var):
        """Whether a statement may change the length of a list in another way than by appending to it."""

        def changes(statement: Statement) -> bool:
            if not isinstance(statement, Let | Perform) or owner not in uses(statement):
                return False
            return statement.op.name.startswith(("method.", "inplace."))

        return changes
