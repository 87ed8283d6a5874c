"""Lists of tensors that are filled first and then changed at places of the data become tables while they are changed.

sums = []                                sums = [] ... as before
for _ in range(n):                       table = torch.stack(sums)
    sums.append(torch.zeros(d))          for k in range(m):
for k in range(m):                           table[to[k]] = table[to[k]] + f(k)
    sums[to[k]] = sums[to[k]] + f(k)     sums = []
... sums ...                             for row in range(n):
                                             sums.append(table[row].clone())

So updates are stores into a tensor, for which there are proofs and scatters. A list binds its places to other tensors
and a table changes what it holds: a read that something later might see changed is a copy. Only tensors of one kind
and shape go into a table, of which none asks for another gradient than the others do after the loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from looplift.base.data import dataclass, replace
from looplift.ir.counters import with_counters
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Append,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Range,
    Require,
    Statement,
    Store,
    Var,
    While,
    uses,
    walk,
)
from looplift.ir.held_lists import READS, HeldList, blocks, carried
from looplift.ir.partial import LENGTHS
from looplift.ir.replaced import Replaced


def with_scattered(function: Function, facts: Facts, *, gradients: bool) -> Function | None:
    """The same function with tables; None where it has no such list. ``gradients``: whether any may flow."""
    function, tables = with_counters(function, facts)
    lists = [s.var for s in walk(function.body) if isinstance(s, Let) and _is_list(s, facts)]
    for ref in lists:
        made = next(s for s in walk(function.body) if isinstance(s, Let) and s.var is ref)
        changed = _Scattered(function, facts, made, tables, gradients=gradients)
        function = changed.rewritten() or function
    return replace(function, attributes=dict(function.attributes)) if tables else None


def _is_list(let: Let, facts: Facts) -> bool:
    return let.op.name == "list" and not let.op.args and let.var in facts.of


@dataclass
class Phases:
    """Of the block that makes a list: the places of the first store into it and of the last one."""

    block: Block
    first: int
    last: int


class _Scattered(HeldList):
    def __init__(self, function: Function, facts: Facts, made: Let, tables: set[Var], *, gradients: bool):
        super().__init__(function, facts, made, tables, gradients=gradients)
        self.number = made.var.name.partition(".")[2]
        self.numbers = itertools.count(1)
        self.table, self.begun = self.fresh(made.var.hint), self.fresh(made.var.hint)

    def fresh(self, hint: str) -> Var:
        return Var(f"{hint}.s{self.number}_{next(self.numbers)}")

    def rewritten(self) -> Function | None:
        """The function with a table in place of the list while it is changed; None if that would not be the same."""
        phases = self._phases()
        if phases is None or not self.is_uniform() or not self.holds_values():
            return None
        flows = self.gradients and self.facts.kind(self.items[0]).dtype.is_floating_point
        if flows and not Replaced(self.function, self.facts, self.ref).keep_inputs():
            return None
        body = list(phases.block)
        middle = self._statements(body[phases.first : phases.last + 1])
        after = body[phases.last + 1 :]
        if middle is None:
            return None
        rebuilt: list[Statement] = []
        if self._is_read(after, phases.block):
            if not self.may_be_listed():
                return None
            rebuilt = self._rows()
        before = [self._begun(s) for s in body[: phases.first]]
        stack = Let(stacked := self.fresh("rows"), Op("torch.stack", (self.begun,)), self.made.span)
        table = Let(self.table, Op("method.clone", (stacked,)), self.made.span)  # a stack may be seen to be a view
        changed = Block((*before, stack, table, *middle, *rebuilt, *after))
        self.tables.add(self.table)
        body = _with_block(self.function.body, phases.block, changed)
        return replace(self.function, body=self._to_the_end(body) if self.ends else body)

    # ------------------------------------------------------------ what is asked of the list

    def _phases(self) -> Phases | None:
        """All appends come before all stores, and nothing uses the list as an object between."""
        block = next((b for b in blocks(self.function.body) if self.made in b.statements), None)
        assert block is not None
        stores = [k for k, s in enumerate(block) if _holds(s, self.stores)]
        appends = [k for k, s in enumerate(block) if _holds(s, self.appends)]
        if not appends or not stores or max(appends) >= min(stores):
            return None
        users = [s for s in walk(Block(block.statements[: min(stores)])) if self.ref in uses(s)]
        if not all(s in self.appends or self._is_harmless(s) for s in users):
            return None
        return Phases(block, min(stores), max(stores))

    def _is_harmless(self, statement: Statement) -> bool:
        """Whether a statement before the stores makes no other name of the list."""
        if isinstance(statement, Loop):
            return isinstance(statement.domain, Range) and self.ref not in carried(statement)
        return isinstance(statement, Let) and statement.op.name in (LENGTHS if self.in_place else READS)

    def _is_read(self, after: Sequence[Statement], block: Block) -> bool:
        """Whether the list is used once nothing changes it any more."""
        if any(self.ref in uses(inner) for inner in walk(Block(tuple(after)))):
            return True
        outside = [s for s in self.everything if self.ref in uses(s) and s not in set(walk(block))]
        return bool(outside) or any(atom is self.ref for _, atom in self.function.results)

    # ------------------------------------------------------------ while it is changed

    def _statements(self, statements: Iterable[Statement]) -> list[Statement] | None:
        found: list[Statement] = []
        waiting: dict[Statement, list[Statement]] = {}
        block = list(statements)
        for position, statement in enumerate(block):
            made = self._one(statement, block[position + 1 :])
            if made is None:
                return None
            user = self._only_user(statement, block[position + 1 :])
            if user is not None:  # read where it is needed: what is called before that does not change the table
                waiting[user] = made
            else:
                found += [*waiting.pop(statement, ()), *made]
        return found

    def _only_user(self, statement: Statement, later: list[Statement]) -> Statement | None:
        """What reads an item of the list, if that is one statement after it."""
        if (
            not isinstance(statement, Let)
            or self.ref not in uses(statement)
            or not self._is_used_at_once(statement, later)
        ):
            return None
        users = [s for s in self.everything if statement.var in uses(s)]
        return users[0] if len(users) == 1 and users[0] in later else None

    def _one(self, statement: Statement, later: list[Statement]) -> list[Statement] | None:
        """A statement of the phase of stores with the table for the list."""
        match statement:
            case Store(ref=ref) if ref is self.ref:
                return [replace(statement, ref=self.table)]
            case If(then=then, orelse=orelse) if self.ref not in uses(statement):
                inner = [self._statements(then), self._statements(orelse)]
                if None in inner:
                    return None
                return [replace(statement, then=Block(tuple(inner[0] or ())), orelse=Block(tuple(inner[1] or ())))]
            case Loop():
                return self._loop(statement)
            case Let(op=op) if self.ref in uses(statement):
                return self._read(statement, op, later)
        return None if self.ref in uses(statement) else [statement]

    def _loop(self, loop: Loop) -> list[Statement] | None:
        domain = loop.domain
        if self.ref in carried(loop):
            return None
        if isinstance(domain, Range) and domain.source is self.ref:
            domain = replace(domain, source=None)
        elif isinstance(domain, While):
            test = self._statements(domain.block)
            if test is None:
                return None
            domain = replace(domain, block=Block(tuple(test)))
        body = self._statements(loop.body)
        return None if body is None else [replace(loop, domain=domain, body=Block(tuple(body)))]

    def _read(self, let: Let, op: Op, later: list[Statement]) -> list[Statement] | None:
        if op.name in LENGTHS:
            return [self._begun(let)]
        if self.in_place:
            return None
        if op.name == "torch.stack" and op.args == (self.ref,) and not op.kwargs:
            return [replace(let, op=Op("method.clone", (self.table,)))]
        if op.name not in ("getitem", "iter_item") or not isinstance(op.args[1], Var | Const):
            return None
        if not self.is_place(op.args[1]):
            return None
        item = Op("getitem", (self.table, op.args[1]))
        if self._is_used_at_once(let, later):
            return [replace(let, op=item)]
        row = self.fresh("row")
        return [Let(row, item, let.span), replace(let, op=Op("method.clone", (row,)))]

    def _is_used_at_once(self, let: Let, later: list[Statement]) -> bool:
        """Whether what is read goes into new values before the list changes again."""
        users = [s for s in self.everything if let.var in uses(s)]
        for statement in later:
            if statement in users:
                if not isinstance(statement, Let) or not self.is_new(statement.var):
                    return False
                users.remove(statement)
            if not users:
                return True
            if _holds(statement, self.stores):
                return False
        return not users

    # ------------------------------------------------------------ afterwards

    def _rows(self) -> list[Statement]:
        """The list anew, of the rows of the table."""
        span = self.made.span
        index, row, item = (self.fresh(hint) for hint in ("place", "row", "item"))
        body = (
            Let(row, Op("getitem", (self.table, index)), span),
            Let(item, Op("method.clone", (row,)), span),
            Append(self.ref, item, span),
        )
        known = self.length()
        counted = self.fresh("length")
        length = [] if known is not None else [Let(counted, Op("builtin.len", (self.begun,)), span)]
        rows = Range(Const(0), counted if known is None else known, Const(1))
        return [self.made, *length, Loop(rows, index, (), Block(body), None, span)]

    def _to_the_end(self, block: Block) -> Block:
        """The block with what is required of loops over several sequences: that this list is read to its end."""
        found: list[Statement] = []
        for statement in block:
            if isinstance(statement, Loop) and isinstance(statement.domain, Range) and statement.index in self.ends:
                same = self.fresh("same")
                length = self.ends[statement.index]
                found.append(Let(same, Op("eq", (statement.domain.hi, length)), statement.span))
                found.append(Require(same, f"'{self.ref.hint}' is read to its end", statement.span))
            if isinstance(statement, Loop):
                statement = replace(statement, body=self._to_the_end(statement.body))
            elif isinstance(statement, If):
                then, orelse = self._to_the_end(statement.then), self._to_the_end(statement.orelse)
                statement = replace(statement, then=then, orelse=orelse)
            found.append(statement)
        return Block(tuple(found))

    def _begun(self, statement: Statement) -> Statement:
        """A statement with the list as it is before it is changed."""
        match statement:
            case Let(var=var, op=op):
                args = tuple(self.begun if arg is self.ref else arg for arg in op.args)
                return replace(statement, var=self.begun if var is self.ref else var, op=replace(op, args=args))
            case Append(ref=ref) if ref is self.ref:
                return replace(statement, ref=self.begun)
            case If(then=then, orelse=orelse):
                return replace(statement, then=self._all_begun(then), orelse=self._all_begun(orelse))
            case Loop(domain=domain, body=body):
                if isinstance(domain, Range) and domain.source is self.ref:
                    domain = replace(domain, source=self.begun)
                if isinstance(domain, While):
                    domain = replace(domain, block=self._all_begun(domain.block))
                return replace(statement, domain=domain, body=self._all_begun(body))
        return statement

    def _all_begun(self, block: Block) -> Block:
        return Block(tuple(map(self._begun, block)))


def _holds(statement: Statement, wanted: Sequence[Statement]) -> bool:
    return any(inner in wanted for inner in walk(Block((statement,))))


def _with_block(block: Block, old: Block, new: Block) -> Block:
    """The block with another one in place of one inside of it."""
    return new if block is old else Block(tuple(_around(statement, old, new) for statement in block))


def _around(statement: Statement, old: Block, new: Block) -> Statement:
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=_with_block(then, old, new), orelse=_with_block(orelse, old, new))
        case Loop(body=body):
            return replace(statement, body=_with_block(body, old, new))
    return statement


def lines_of_changes(function: Function) -> set[int]:
    """The lines of the innermost loops that store."""
    loops = [s for s in walk(function.body) if isinstance(s, Loop)]
    return {loop.span.line for loop in loops if any(isinstance(s, Store) for s in _without_loops(loop.body))}


def _without_loops(block: Block) -> Iterable[Statement]:
    for statement in block:
        yield statement
        if isinstance(statement, If):
            yield from _without_loops(statement.then)
            yield from _without_loops(statement.orelse)


__all__ = ["lines_of_changes", "with_scattered"]
