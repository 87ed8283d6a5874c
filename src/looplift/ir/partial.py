"""A list of a function in, whether what the function gives may come from some items of the list only out.

A list of tensors may have items that ask for gradients and others that do not. What is made of all of them asks for
gradients as a table of them does; what is made of one of them need not.
"""

from __future__ import annotations

from looplift.ir.facts import Facts
from looplift.ir.filled import counts_up
from looplift.ir.grammar import (
    Append,
    Atom,
    Carry,
    Function,
    If,
    Let,
    Loop,
    Range,
    Statement,
    Var,
    atoms,
    operands,
    walk,
)
from looplift.ir.lengths import LENGTHS, Lengths

WHOLE = frozenset("torch.stack torch.cat torch.vstack builtin.sum builtin.len iter_len".split())
"""What reads all items of a list."""


class Parts:
    """Follows values, but not into tables: of these each is asked about by itself.

    ``items``: what is made of one item in each iteration of a loop over all of them; ``some``: of any of them.
    """

    def __init__(self, function: Function, facts: Facts, ref: Var, length: Atom | None):
        self.function, self.facts, self.length = function, facts, length
        self.statements = list(walk(function.body))
        self.lets = {s.var: s for s in self.statements if isinstance(s, Let)}
        self.home = {s: loop for loop in self.statements if isinstance(loop, Loop) for s in loop.body}
        self.items: set[Atom] = {ref}
        self.some: set[Atom] = set()
        self.sizes = Lengths(function, facts)
        self.lengths: dict[Loop, Atom] = {}
        """Loops over several sequences, and how many items the one has that must be read to its end."""

    def reach_results(self) -> bool:
        """Whether a result may be made of some items only."""
        before = -1
        while before != len(self.items) + len(self.some):
            before = len(self.items) + len(self.some)
            for statement in self.statements:
                self._follow(statement)
        return any(atom in self.items or atom in self.some for _, atom in self.function.results)

    def _follow(self, statement: Statement) -> None:
        match statement:
            case Let():
                self._let(statement)
            case Append(ref=ref, value=value):
                self._hand_on(ref, value)
            case If(phis=phis):
                for phi in phis:
                    if {phi.then, phi.orelse} & (self.items | self.some):
                        self.some.add(phi.var)
            case Loop(carries=carries):
                for carry in carries:
                    self._carry(carry)

    def _hand_on(self, var: Atom, value: Atom) -> None:
        if value in self.items:
            self.items.add(var)
        if value in self.some:
            self.some.add(var)

    def _let(self, let: Let) -> None:
        read = set(operands(let.op))
        if let.op.name == "attribute" or let.op.name in LENGTHS:
            return
        if read & self.some:
            self.some.add(let.var)
        for atom in read & self.items:
            if not self._is_list(atom):
                self.items.add(let.var)
            elif let.op.name in ("getitem", "iter_item"):
                (self.items if self._is_of_each(let) else self.some).add(let.var)
            elif let.op.name not in WHOLE:
                self.some.add(let.var)

    def _carry(self, carry: Carry) -> None:
        grows = self._is_made_of(carry.next, carry.inside)
        for start in (carry.init, carry.next):
            self._hand_on(carry.inside, start)
        self._hand_on(carry.after, carry.init)
        if carry.next in self.some or (carry.next in self.items and not grows and not self._is_list(carry.next)):
            self.some.add(carry.after)
        elif carry.next in self.items and self._is_list(carry.next):
            self.items.add(carry.after)

    def _is_of_each(self, let: Let) -> bool:
        """Whether a loop over all items reads the one that it has come to."""
        loop, index = self.home.get(let), let.op.args[1]
        if loop is None or index is not loop.index or not counts_up(loop) or not isinstance(loop.domain, Range):
            return False
        hi = self.lets.get(loop.domain.hi) if isinstance(loop.domain.hi, Var) else None
        if hi is not None and self._is_length(hi, let):
            return True
        if hi is not None and hi.op.name == "builtin.min":
            for bound in hi.op.args:
                if bound in self.lets and self._is_length(self.lets[bound], let):  # type: ignore[index]
                    self.lengths[loop] = bound  # type: ignore[assignment]
                    return True
        return self.length is not None and self.sizes.same(loop.domain.hi, self.length)

    def _is_length(self, let: Let, read: Let) -> bool:
        return let.op.name in LENGTHS and let.op.args[0] is read.op.args[0]

    def _is_made_of(self, last: Atom, first: Var) -> bool:
        """Whether a chain of operations leads from one value to another."""
        seen: set[Atom] = set()
        pending: list[Atom] = [last]
        while pending:
            atom = pending.pop()
            if atom is first:
                return True
            let = self.lets.get(atom) if isinstance(atom, Var) else None
            if let is not None and atom not in seen:
                seen.add(atom)
                pending += [found for argument in let.op.args for found in atoms(argument)]
        return False

    def _is_list(self, atom: Atom) -> bool:
        """Whether a value is a list with a place for each item; one that was written out holds but those in it."""
        let = self.lets.get(atom) if isinstance(atom, Var) else None
        is_written_out = let is not None and let.op.name == "list" and bool(let.op.args)
        return not is_written_out and atom in self.facts.of and isinstance(self.facts[atom].sample, list)


__all__ = ["LENGTHS", "Parts"]
