"""Lists of counters, which only grow by constants at places of the data, become tensors of integers or floats.

degree = [0] * n                         degree = torch.full((n,), 0, dtype=torch.int64)
for u, v in edges:                       for u, v in edges:
    degree[v] += 1                           degree[v] += 1
... degree[i] ...                        ... degree[i].item() ...

Whole numbers of this size add up to the same in any order, in 64 bits too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from looplift.base.data import replace
from looplift.ir.facts import Facts
from looplift.ir.filled import counts_up
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Range,
    Statement,
    Store,
    Var,
    While,
    as_atom,
    uses,
    walk,
)
from looplift.ir.partial import LENGTHS

LARGEST = 2**20
"""A constant that is added; in 64 bits there is room for more of them than a loop has iterations."""


def with_counters(function: Function, facts: Facts) -> tuple[Function, set[Var]]:
    """The function with tensors for its lists of counters, and these tensors."""
    tables: set[Var] = set()
    for store in [s for s in walk(function.body) if isinstance(s, Store)]:
        made = next((s for s in walk(function.body) if isinstance(s, Let) and s.var is store.ref), None)
        if made is not None and made.var not in tables and (changed := _Counters(function, facts, made).rewritten()):
            function = changed
            tables.add(made.var)
    return function, tables


class _Counters:
    def __init__(self, function: Function, facts: Facts, made: Let):
        self.function, self.facts, self.made, self.ref = function, facts, made, made.var
        self.numbers = itertools.count(1)
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.fill: Loop | None = None
        self.length: Atom = Const(0)

    def rewritten(self) -> Function | None:
        """The function with a tensor under the list's name; None where the list is something else."""
        start = self._start()
        if start is None or any(atom is self.ref for _, atom in self.function.results):
            return None
        users = [s for s in walk(self.function.body) if self.ref in uses(s) and s is not self.fill]
        fill = set(self.fill.body) if self.fill is not None else set()
        if not all(s in fill or self._is_known(s, type(start)) for s in users):
            return None
        return replace(self.function, body=self._block(self.function.body, start))

    def _start(self) -> int | float | None:
        """What the counters begin with; this also finds how many there are."""
        op = self.made.op
        if op.name == "mul" and len(op.args) == 2:
            for shown, count in (op.args, op.args[::-1]):
                let = self.lets.get(shown) if isinstance(shown, Var) else None
                if (
                    let is not None
                    and let.op.name == "list"
                    and len(let.op.args) == 1
                    and isinstance(count, Var | Const)
                ):
                    self.length = count
                    return self._constant(let.op.args[0])
        if op.name != "list" or op.args:
            return None
        appends = [s for s in walk(self.function.body) if isinstance(s, Append) and s.ref is self.ref]
        fills = [s for s in walk(self.function.body) if isinstance(s, Loop) and s.body.statements == tuple(appends)]
        if len(appends) != 1 or len(fills) != 1 or not counts_up(fills[0]) or fills[0].carries:
            return None
        self.fill = fills[0]
        assert isinstance(self.fill.domain, Range)
        self.length = self.fill.domain.hi
        return self._constant(appends[0].value)

    def _constant(self, operand: object) -> int | float | None:
        value = operand.value if isinstance(operand, Const) else None
        if type(value) is int and abs(value) <= LARGEST:
            return value
        return value if type(value) is float and abs(value) <= LARGEST and value.is_integer() else None

    def _is_known(self, statement: Statement, kind: type) -> bool:
        """Whether a statement adds a constant to a counter, or reads one."""
        match statement:
            case Store(ref=ref, index=index, value=value, combine="add" | "sub", method=""):
                grows = self._constant(value)
                return ref is self.ref and self._is_place(index) and grows is not None and type(grows) is kind
            case Let(op=Op(name=name, args=args, kwargs=())) if name in LENGTHS:
                return True
            case Let(op=Op(name="getitem" | "iter_item", args=args)):
                return args[0] is self.ref and self._is_place(args[1])
            case Loop(domain=Range(source=source), carries=carries):
                return source is self.ref and all(self.ref not in (c.init, c.next) for c in carries)
        return False

    def _is_place(self, index: object) -> bool:
        return isinstance(index, Var | Const) and self.facts.kind(index).family == "int"

    # ------------------------------------------------------------ the tensor

    def _block(self, block: Block, start: int | float) -> Block:
        return Block(tuple(made for s in block for made in self._statement(s, start)))

    def _statement(self, statement: Statement, start: int | float) -> Iterable[Statement]:
        if statement is self.made:
            return [self._table(start)] if self.fill is None else []
        if statement is self.fill:
            return [self._table(start)]
        match statement:
            case Let(op=Op(name=name, args=args)) if self.ref in uses(statement):
                if name in LENGTHS:
                    return [replace(statement, op=Op("iter_len", (self.ref,)))]
                place = Var(f"count.c{self.ref.name.partition('.')[2]}_{next(self.numbers)}")
                read = Let(place, Op("getitem", (self.ref, as_atom(args[1]))), statement.span)
                return [read, replace(statement, op=Op("method.item", (place,)))]
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self._block(then, start), orelse=self._block(orelse, start))]
            case Loop(domain=domain, body=body):
                if isinstance(domain, Range) and domain.source is self.ref:
                    domain = replace(domain, source=None)
                if isinstance(domain, While):
                    domain = replace(domain, block=self._block(domain.block, start))
                return [replace(statement, domain=domain, body=self._block(body, start))]
        return [statement]

    def _table(self, start: int | float) -> Let:
        import torch

        kind = torch.int64 if type(start) is int else torch.float64
        sizes = Group("tuple", (self.length,))
        return replace(self.made, op=Op("torch.full", (sizes, Const(start)), (("dtype", Const(kind)),)))


__all__ = ["with_counters"]
