"""Lists of empty lists, of which each iteration of a loop fills one, in order, become lists of rows that grow.

near = [[] for _ in range(n)]           near = []
for i in range(n):                      for i in range(n):
    for j in range(m):                      row = []
        if f(i, j):                         for j in range(m):
            near[i].append(j)                   if f(i, j):
                                                    row.append(j)
                                            near.append(row)

Both sizes are computed alike; where they differ all the same, the original runs.
"""

from __future__ import annotations

import itertools

from looplift.base.data import dataclass, replace
from looplift.ir.filled import SIZES, counts_up, is_same
from looplift.ir.grammar import (
    Append,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Statement,
    Var,
    uses,
    walk,
)
from looplift.ir.prune import prune
from looplift.ir.started import Changes


def rows_filled_in_order(function: Function) -> Function:
    """The same function with lists of rows in place of such lists."""
    if not _holds_lists(function):
        return function
    function = prune(function)  # a name that a later iteration binds anew is no use
    return replace(function, body=_Rows(function).block(function.body))


def _holds_lists(function: Function) -> bool:
    made = {s.var for s in walk(function.body) if isinstance(s, Let) and _is_empty(s)}
    return any(isinstance(s, Append) and s.value in made and s.ref in made for s in walk(function.body))


def _is_empty(statement: Statement) -> bool:
    return isinstance(statement, Let) and statement.op.name == "list" and not statement.op.args


@dataclass(frozen=True)
class _Filling:
    """The loop that fills the rows, and the reads of its row; what must hold, and the statements that compute it."""

    loop: Loop
    reads: tuple[Let, ...]
    checks: tuple[Statement, ...]


class _Rows:
    def __init__(self, function: Function) -> None:
        self.numbers = itertools.count(1)
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.empty = {var: let for var, let in self.lets.items() if _is_empty(let)}

    def block(self, block: Block) -> Block:
        statements = list(block)
        for making in [s for s in statements if isinstance(s, Loop)]:
            table = self._made_by(making, statements)
            if table is not None and (filling := self._filling(table, making, statements)) is not None:
                place = statements.index(filling.loop)
                statements[place : place + 1] = [*filling.checks, self._grown(table, filling)]
                statements.remove(making)
        return Block(tuple(map(self._inside, statements)))

    def _inside(self, statement: Statement) -> Statement:
        match statement:
            case If(then=then, orelse=orelse):
                return replace(statement, then=self.block(then), orelse=self.block(orelse))
            case Loop(body=body):
                return replace(statement, body=self.block(body))
        return statement

    def _made_by(self, loop: Loop, block: list[Statement]) -> Var | None:
        """The list of this block that a loop fills with empty lists, and does nothing else."""
        if not counts_up(loop) or loop.carries or len(loop.body.statements) != 2:
            return None
        row, append = loop.body.statements
        if (
            not isinstance(row, Let)
            or not _is_empty(row)
            or not isinstance(append, Append)
            or append.value is not row.var
        ):
            return None
        return append.ref if self.empty.get(append.ref) in block else None

    def _filling(self, table: Var, making: Loop, block: list[Statement]) -> _Filling | None:
        """The loop that fills the lists, which are used for the first time in it."""
        users = [s for s in block if s is not making and any(table in uses(one) for one in walk(Block((s,))))]
        if not users or block.index(users[0]) < block.index(making):
            return None
        loop = users[0]
        if not isinstance(loop, Loop) or not counts_up(loop) or table in uses(loop):
            return None
        reads = [s for s in walk(loop.body) if table in uses(s)]
        row = (table, loop.index)
        found = tuple(s for s in reads if isinstance(s, Let) and s.op.name == "getitem" and s.op.args == row)
        checks = self._as_many(making, loop)
        return _Filling(loop, found, checks) if len(found) == len(reads) and checks is not None else None

    def _as_many(self, making: Loop, loop: Loop) -> tuple[Statement, ...] | None:
        """That there are as many lists as iterations; None where these are two different sizes."""
        assert isinstance(making.domain, Range) and isinstance(loop.domain, Range)
        made, filled = making.domain.hi, loop.domain.hi
        if made is filled:
            return ()
        if not self._is_same_size(made, filled):
            return None
        same = Var(f"same.r{next(self.numbers)}")
        equal = Let(same, Op("eq", (made, filled)), loop.span)
        return equal, Require(same, "each of the lists is filled by one iteration", loop.span)

    def _is_same_size(self, one: Operand, other: Operand) -> bool:
        """Whether two sizes are computed alike."""
        if is_same(one, other):
            return True
        if isinstance(one, Const) and isinstance(other, Const):
            return type(one.value) is type(other.value) and one.value == other.value
        first, second = (self.lets.get(atom) if isinstance(atom, Var) else None for atom in (one, other))
        if first is None or second is None or first.op.name != second.op.name or first.op.name not in SIZES:
            return False
        pairs = list(zip(first.op.args, second.op.args, strict=False))
        alike = len(first.op.args) == len(second.op.args) and not first.op.kwargs and not second.op.kwargs
        return alike and all(self._is_same_size(a, b) for a, b in pairs)

    def _grown(self, table: Var, filling: _Filling) -> Loop:
        loop = filling.loop
        row = Var(f"row.r{next(self.numbers)}")
        changes = Changes({}, {})
        for read in filling.reads:
            changes.drop(read, row)
        body = (Let(row, Op("list"), loop.span), *changes.block(loop.body), Append(table, row, loop.span))
        carries = tuple(replace(carry, next=changes.atom(carry.next)) for carry in loop.carries)
        return replace(loop, body=Block(body), carries=carries)
