"""Lists that are made at full length and then filled from the first place to the last become lists that grow.

out = [None] * n                  out = []
for i in range(n):                for i in range(n):
    out[i] = f(i)                     out.append(f(i))

rows = [[0.0] * m for _ in range(n)]      rows = []
for i in range(n):                        for i in range(n):
    for j in range(m):                        row = []
        rows[i][j] = f(i, j)                  for j in range(m):
                                                  row.append(f(i, j))
                                              rows.append(row)

So nothing is read of what the list held before, and where its length is not the number of iterations the original runs.
"""

from __future__ import annotations

import itertools

from looplift.base.data import dataclass, replace
from looplift.ir.grammar import (
    Append,
    Atom,
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
    Store,
    Var,
    definitions,
    uses,
    walk,
)
from looplift.ir.writes import Writes


def filled_lists(function: Function) -> Function:
    """The same function with lists that are filled in order as lists that grow."""
    return replace(function, body=_Filled(function).block(function.body))


SIZES = frozenset("attribute getitem unpack iter_len builtin.len method.size add sub".split())
"""Operations that a length is computed with; they change nothing."""


@dataclass
class Made:
    """A list at its full length: its variable, how long it is and its rows are, and the statements that make it."""

    var: Var
    lengths: tuple[Atom, ...]
    statements: tuple[Statement, ...]


@dataclass
class Fill:
    """The loops that fill a list, one in the other, the store in the innermost, and what finds the row for it."""

    loops: tuple[Loop, ...]
    store: Store
    row: Let | None = None


class _Filled:
    def __init__(self, function: Function):
        self.function = function
        self.numbers = itertools.count(1)
        self.lists = {s.var: s for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list"}
        self.rows = {s.var: s for s in walk(function.body) if isinstance(s, Let) and s.op.name == "getitem"}
        self.stores = [s for s in walk(function.body) if isinstance(s, Store)]
        self.readers: dict[object, list[Statement]] = {}
        for statement in walk(function.body):
            for atom in uses(statement):
                self.readers.setdefault(atom, []).append(statement)

    def block(self, block: Block) -> Block:
        statements = list(block)
        for made in [found for s in statements if (found := self._made(s, statements)) is not None]:
            statements = self._rewritten(statements, made)
        return Block(tuple(map(self._inside, statements)))

    def _inside(self, statement: Statement) -> Statement:
        match statement:
            case If(then=then, orelse=orelse):
                return replace(statement, then=self.block(then), orelse=self.block(orelse))
            case Loop(body=body):
                return replace(statement, body=self.block(body))
        return statement

    # ------------------------------------------------------------ how it is made

    def _made(self, statement: Statement, block: list[Statement]) -> Made | None:
        """A list that a statement makes at its full length."""
        if isinstance(statement, Let):
            repeated = self._repeated(statement)
            return Made(statement.var, (repeated[1],), (repeated[0], statement)) if repeated is not None else None
        if not isinstance(statement, Loop) or not counts_up(statement) or not statement.body:
            return None
        *before, last = statement.body
        lets = [s for s in before if isinstance(s, Let)]
        if not isinstance(last, Append) or len(lets) != len(before) or not lets or lets[-1].var is not last.value:
            return None
        repeated = self._repeated(lets[-1])
        empty = self.lists.get(last.ref)
        if repeated is None or empty is None or empty.op.args or empty not in block:
            return None
        if any(let.op.name not in SIZES for let in lets if let not in (*repeated[:1], lets[-1])):
            return None
        assert isinstance(statement.domain, Range)
        return Made(last.ref, (statement.domain.hi, repeated[1]), (statement,))

    def _repeated(self, let: Let) -> tuple[Let, Atom] | None:
        """``[c] * n``: the statement that makes ``[c]``, and ``n``."""
        if let.op.name != "mul":
            return None
        for shown, count in (let.op.args, let.op.args[::-1]):
            display = self.lists.get(shown) if isinstance(shown, Var) else None
            if display is None or len(display.op.args) != 1 or not isinstance(display.op.args[0], Const):
                continue
            if len(self.readers[shown]) == 1 and isinstance(count, Var | Const):
                return display, count
        return None

    # ------------------------------------------------------------ how it is filled

    def _rewritten(self, statements: list[Statement], made: Made) -> list[Statement]:
        start = max(statements.index(s) for s in made.statements)
        for place, statement in enumerate(statements[start + 1 :], start + 1):
            fill = self._fill(statement, made) if isinstance(statement, Loop) else None
            taken = statements[min(map(statements.index, made.statements)) : place + 1]
            lengths = self._lengths(made, fill, taken) if fill is not None and self._is_alone(made, fill) else None
            if fill is not None and lengths is not None:
                grown = [*lengths, self._grown(fill, made)]
                kept = [s for s in statements[:place] if s not in made.statements]
                if len(made.lengths) == 1:
                    kept.append(Let(made.var, Op("list"), fill.loops[0].span))
                return [*kept, *grown, *statements[place + 1 :]]
            if any(atom is made.var for s in walk(Block((statement,))) for atom in uses(s)):
                break
        return statements

    def _fill(self, loop: Loop, made: Made) -> Fill | None:
        """The loops that fill every place once, in order."""
        if not counts_up(loop):
            return None
        if len(made.lengths) == 1:
            stores = [s for s in loop.body if isinstance(s, Store) and s.ref is made.var]
            return Fill((loop,), stores[0]) if len(stores) == 1 and _is_at(stores[0], loop) else None
        for inner in (s for s in loop.body if isinstance(s, Loop) and counts_up(s)):
            for store in (s for s in inner.body if isinstance(s, Store) and _is_at(s, inner)):
                row = self.rows.get(store.ref)
                if row is not None and row.op.args[0] is made.var and row.op.args[1] is loop.index:
                    return Fill((loop, inner), store, row)
        return None

    def _is_alone(self, made: Made, fill: Fill) -> bool:
        """Whether nothing else writes to the list, and nothing reads it before it is full."""
        rows = {made.var, *(var for var, let in self.rows.items() if let.op.args[0] is made.var)}
        if any(store is not fill.store and store.ref in rows for store in self.stores):
            return False
        mine = {fill.row, fill.store, *made.statements, *walk(Block(made.statements))}
        readers = [s for s in self.readers[made.var] if s not in mine]
        inside = set(walk(Block((fill.loops[0],))))
        if any(isinstance(s, Append) or s in inside for s in readers):
            return False
        return fill.row is None or len(self.readers[fill.row.var]) == 1

    def _lengths(self, made: Made, fill: Fill, taken: list[Statement]) -> list[Statement] | None:
        """Each length must be the number of iterations; None where that cannot be told before the loops. ``taken`` are
        the statements from where the list is made to where it is full."""
        found: list[Statement] = []
        others = [s for s in walk(Block(tuple(taken))) if s is not fill.store]
        writes = Writes(self.function, others)
        bound = {v: s for s in walk(Block((*made.statements, fill.loops[0]))) for v in definitions(s)}
        for length, loop in zip(made.lengths, fill.loops, strict=True):
            assert isinstance(loop.domain, Range)
            if length is loop.domain.hi:
                continue
            first, second = (self._before(atom, bound, writes, found) for atom in (length, loop.domain.hi))
            if first is None or second is None:
                return None
            same = Var(f"same.f{next(self.numbers)}")
            found.append(Let(same, Op("eq", (first, second)), loop.span))
            found.append(Require(same, f"'{made.var.hint}' is filled to its end", loop.span))
        return found

    def _before(self, atom: object, bound: dict[Var, Statement], writes: Writes, found: list[Statement]) -> Atom | None:
        """A size as it is before the loops, computed there once more if it is computed inside; None if it cannot be."""
        if isinstance(atom, Const) or (isinstance(atom, Var) and atom not in bound):
            return atom
        let = bound.get(atom) if isinstance(atom, Var) else None
        if not isinstance(let, Let) or let.op.name not in SIZES or let.op.kwargs or writes.may_change(let.op):
            return None
        args = [self._before(argument, bound, writes, found) for argument in let.op.args]
        again = Var(f"{let.var.hint}.f{next(self.numbers)}")
        found.append(Let(again, Op(let.op.name, tuple(a for a in args if a is not None)), let.span))
        return None if None in args else again

    def _grown(self, fill: Fill, made: Made) -> Loop:
        outer, inner = fill.loops[0], fill.loops[-1]
        target = made.var if fill.row is None else Var(f"row.f{next(self.numbers)}")
        append = Append(target, fill.store.value, fill.store.span)
        kept = [append if s is fill.store else s for s in inner.body if s is not fill.row]
        grown = replace(inner, body=Block(tuple(kept)))
        if fill.row is None:
            return grown
        body: list[Statement] = []
        for statement in outer.body:
            if statement is inner:
                body += [Let(target, Op("list"), inner.span), grown, Append(made.var, target, inner.span)]
            elif statement is not fill.row:
                body.append(statement)
        return replace(outer, body=Block(tuple(body)))


def counts_up(loop: Loop) -> bool:
    """``for i in range(n)``, to its end."""
    return counts_by(loop, Const(1))


def counts_by(loop: Loop, step: Operand) -> bool:
    """``for i in range(0, n, step)``, to its end."""
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None:
        return False
    return is_same(domain.lo, Const(0)) and is_same(domain.step, step)


def is_same(one: Operand, other: Operand) -> bool:
    """Whether two operands are one value, or integers that are equal."""
    if isinstance(one, Const) and isinstance(other, Const):
        return type(one.value) is type(other.value) is int and one.value == other.value
    return one is other


def _is_at(store: Store, loop: Loop) -> bool:
    """Whether a store writes the place that a loop has come to."""
    return store.index is loop.index and store.combine is None
