"""Rows that a loop carries from one iteration to the next become rows of a table that it fills.

state = start                                 table = torch.zeros(n + 1, *start.shape); table[0] = start
for t in range(n):                            for t in range(n):
    state = step(state, x[t])                     table[t + 1] = step(table[t].clone(), x[t])
                                              state = table[n].clone()

So the loop stores into a tensor, as a dynamic program does, and can become a kernel of numbers; and what the backward
pass needs of earlier states is still there. Only loops are taken in which every iteration makes its state in the same
way: then the state asks for a gradient where the table does.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    walk,
)


def with_histories(function: Function, facts: Facts) -> Function | None:
    """The same function with tables; None if no loop of it carries rows."""
    statements: list[Statement] = []
    found = False
    for statement in function.body:
        carried = _carried_rows(statement, facts) if isinstance(statement, Loop) else []
        if isinstance(statement, Loop) and carried:
            statements += _History(statement, facts).written(carried)
            found = True
        else:
            statements.append(statement)
    if not found:
        return None
    return replace(function, body=Block(tuple(statements)), attributes=dict(function.attributes))


def _carried_rows(loop: Loop, facts: Facts) -> list[Carry]:
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None or loop.index is None:
        return []
    if not isinstance(domain.step, Const) or domain.step.value != 1 or _chooses_tensors(loop, facts):
        return []
    return [carry for carry in loop.carries if _is_row(carry, facts)]


def _is_row(carry: Carry, facts: Facts) -> bool:
    """Whether a carried value is a tensor of floats that each iteration makes anew, always of one shape."""
    if carry.init is UNDEFINED or carry.next is carry.inside or not isinstance(carry.next, Var):
        return False
    inside, start = facts.of.get(carry.inside), facts[carry.init]
    if inside is None or inside.kind.family != "tensor" or not inside.kind.rank or inside.kind != start.kind:
        return False
    return inside.kind.dtype.is_floating_point and inside.shape == start.shape == facts[carry.next].shape


def _chooses_tensors(loop: Loop, facts: Facts) -> bool:
    """Whether it depends on the run what a tensor of the loop is computed from, or one is changed in place."""
    for statement in walk(loop.body):
        if isinstance(statement, If) and any(_is_tensor(phi.var, facts) for phi in statement.phis):
            return True
        if isinstance(statement, Let) and statement.op.name.startswith("inplace.") and _is_tensor(statement.var, facts):
            return True
    return False


def _is_tensor(var: Var, facts: Facts) -> bool:
    fact = facts.of.get(var)
    return fact is None or fact.kind.is_array


class _History:
    def __init__(self, loop: Loop, facts: Facts):
        self.loop, self.facts = loop, facts
        self.numbers = itertools.count(1)
        self.before: list[Statement] = []

    def fresh(self, hint: str) -> Var:
        index = self.loop.index
        assert index is not None
        return Var(f"{hint}.h{index.name.partition('.')[2]}_{next(self.numbers)}")

    def let(self, into: list[Statement], hint: str, name: str, *args: Operand, var: Var | None = None) -> Var:
        var = var if var is not None else self.fresh(hint)
        into.append(Let(var, Op(name, args), self.loop.span))
        return var

    def written(self, carried: list[Carry]) -> list[Statement]:
        """The tables, the loop that fills them, and the states after it."""
        loop, domain = self.loop, self.loop.domain
        assert isinstance(domain, Range) and loop.index is not None
        starts_at_zero = isinstance(domain.lo, Const) and domain.lo.value == 0
        length = domain.hi if starts_at_zero else self.let(self.before, "length", "sub", domain.hi, domain.lo)
        trips = self.let(self.before, "trips", "builtin.max", length, Const(0))
        first: list[Statement] = []
        place: Atom = loop.index if starts_at_zero else self.let(first, "place", "sub", loop.index, domain.lo)
        last: list[Statement] = []
        after: list[Statement] = []
        following = self.let(last, "following", "add", place, Const(1))
        for carry in carried:
            table = self._table(carry, trips)
            row = self.let(first, "row", "getitem", table, place)
            self.let(first, "", "method.clone", row, var=carry.inside)
            assert isinstance(carry.next, Var)
            last.append(Store(table, following, carry.next, None, loop.span))
            row = self.let(after, "row", "getitem", table, trips)
            self.let(after, "", "method.clone", row, var=carry.after)
        carries = tuple(carry for carry in loop.carries if carry not in carried)
        body = Block((*first, *loop.body, *last))
        return [*self.before, replace(loop, carries=carries, body=body), *after]

    def _table(self, carry: Carry, trips: Var) -> Var:
        kind = self.facts.kind(carry.inside)
        shape = self.let(self.before, "shape", "attribute", carry.init, Const("shape"))
        rows = self.let(self.before, "rows", "add", trips, Const(1))
        sizes = [self.let(self.before, "size", "getitem", shape, Const(axis)) for axis in range(kind.rank)]
        table = self.fresh(f"{carry.hint}s")
        op = Op("torch.zeros", (rows, *sizes), (("dtype", Const(kind.dtype)),))
        self.before += [Let(table, op, self.loop.span), Store(table, Const(0), carry.init, None, self.loop.span)]
        return table


__all__ = ["with_histories"]
