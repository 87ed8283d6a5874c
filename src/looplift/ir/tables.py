"""Dicts that loops fill key by key, where the keys are the loops' own indices, become lists that grow.

near = {}                              rows = []
for i in range(n):                     for i in range(n):
    for j in range(n):                     row = []
        near[i, j] = f(i, j)               for j in range(n):
                                               row.append(f(i, j))
                                           rows.append(row)
... near[a, b] ...                     ... rows[a][b] ...     where 0 <= a and 0 <= b

A negative key is not in the dict, and one that is too large is not in the list either: then the original runs.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
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
    Operand,
    Require,
    Statement,
    Store,
    Var,
    While,
    atoms,
    uses,
    walk,
)

TABLE = "table"
"""The operation that makes an empty dict whose keys are not known one by one."""

WHOLE = frozenset("add sub mul floordiv mod neg builtin.int builtin.len iter_len builtin.abs".split())


def tables_as_lists(function: Function) -> Function:
    """The same function without tables; raises NotLiftable where one is used in another way."""
    for made in [s for s in walk(function.body) if isinstance(s, Let) and s.op.name == TABLE]:
        function = replace(function, body=_Table(function, made).replaced(function.body))
    return function


class _Table:
    def __init__(self, function: Function, made: Let):
        self.function = function
        self.made = made
        self.numbers = itertools.count(1)
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.indices = {s.index for s in walk(function.body) if isinstance(s, Loop)}
        users = [s for s in walk(function.body) if made.var in uses(s)]
        self.stores = [s for s in users if isinstance(s, Store)]
        self.reads = [s for s in users if isinstance(s, Let) and s.op.name == "getitem" and s.op.args[0] is made.var]
        if len(self.stores) != 1 or len(users) != len(self.reads) + 1 or self._is_result():
            raise self.refusal()

    def _is_result(self) -> bool:
        return any(atom is self.made.var for _, atom in self.function.results)

    def refusal(self) -> NotLiftable:
        message = "a dict is read or written at a place that is not known before the loop runs"
        return NotLiftable("unsupported-value", message, self.made.span)

    # ------------------------------------------------------------ the loops that fill it

    def replaced(self, block: Block) -> Block:
        statements: list[Statement] = []
        state = "absent"
        for statement in block:
            if statement is self.made:
                state = "empty"
                statement = replace(self.made, op=Op("list"))
            elif state == "empty" and self._holds(statement, self.stores[0]):
                state = "full"
                statement = self._filling(statement)
            elif state == "empty" and any(self._holds(statement, read) for read in self.reads):
                raise self.refusal()
            statements += self._reading(statement)
        return Block(tuple(statements))

    def _holds(self, statement: Statement, inner: Statement) -> bool:
        return any(found is inner for found in walk(Block((statement,))))

    def _filling(self, statement: Statement) -> Loop:
        """The nest of loops in which the keys are the indices, the last one innermost."""
        store = self.stores[0]
        keys = store.index.items if isinstance(store.index, Group) else (store.index,)
        if any(self._holds(statement, read) for read in self.reads) or store.combine is not None:
            raise self.refusal()
        return self._grown(statement, list(keys), self.made.var)

    def _grown(self, statement: Statement, keys: list[Operand], target: Var) -> Loop:
        if not isinstance(statement, Loop) or not counts_up(statement) or statement.index is not keys[0]:
            raise self.refusal()
        body: list[Statement] = []
        for inner in statement.body:
            if len(keys) == 1 and inner is self.stores[0]:
                body.append(Append(target, self.stores[0].value, inner.span))
            elif self._holds(inner, self.stores[0]):
                if len(keys) == 1:
                    raise self.refusal()
                row = Var(f"row.t{self.made.var.name.partition('.')[2]}_{next(self.numbers)}")
                body += [Let(row, Op("list"), inner.span), self._grown(inner, keys[1:], row)]
                body.append(Append(target, row, inner.span))
            else:
                body.append(inner)
        return replace(statement, body=Block(tuple(body)))

    # ------------------------------------------------------------ reads

    def _reading(self, statement: Statement) -> list[Statement]:
        """A statement with the reads inside of it."""
        if statement in self.reads:
            assert isinstance(statement, Let)
            return self._read(statement)
        match statement:
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self.replaced(then), orelse=self.replaced(orelse))]
            case Loop(domain=domain, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=self.replaced(domain.block))
                return [replace(statement, domain=domain, body=self.replaced(body))]
        return [statement]

    def _read(self, read: Let) -> list[Statement]:
        index, depth = read.op.args[1], self._depth()
        keys = index.items if isinstance(index, Group) else (index,)
        if len(keys) != depth or isinstance(index, Group) != isinstance(self.stores[0].index, Group):
            raise self.refusal()
        found: list[Statement] = []
        owner: Var = self.made.var
        for number, key in enumerate(keys, 1):
            if not isinstance(key, Var | Const) or not self._is_integer(key):
                raise self.refusal()
            found += self._not_negative(key, read)
            item = read.var if number == depth else self._fresh("row")
            found.append(replace(read, var=item, op=Op("getitem", (owner, key))))
            owner = item
        return found

    def _depth(self) -> int:
        index = self.stores[0].index
        return len(index.items) if isinstance(index, Group) else 1

    def _not_negative(self, key: Atom, read: Let) -> list[Statement]:
        if key in self.indices or isinstance(key, Const):
            return []
        holds = self._fresh("holds")
        why = "a key of a dict is not negative"
        return [Let(holds, Op("ge", (key, Const(0))), read.span), Require(holds, why, read.span)]

    def _fresh(self, hint: str) -> Var:
        return Var(f"{hint}.k{self.made.var.name.partition('.')[2]}_{next(self.numbers)}")

    def _is_integer(self, atom: Operand) -> bool:
        """Whether a key surely is a Python integer: a list would also take what a dict does not know."""
        if isinstance(atom, Const):
            return type(atom.value) is int and atom.value >= 0
        if atom in self.indices:
            return True
        let = self.lets.get(atom) if isinstance(atom, Var) else None
        if let is None:
            return isinstance(atom, Var) and type(self.function.attributes["values"].get(atom)) is int
        if let.op.name in ("builtin.len", "iter_len", "builtin.int"):
            return True
        if let.op.name in ("getitem", "unpack"):
            return self._is_shape(let.op.args[0])
        return let.op.name in WHOLE and all(self._is_integer(a) for operand in let.op.args for a in atoms(operand))

    def _is_shape(self, atom: Operand) -> bool:
        let = self.lets.get(atom) if isinstance(atom, Var) else None
        if let is None or let.op.name != "attribute":
            return False
        name = let.op.args[1]
        return isinstance(name, Const) and name.value == "shape"


__all__ = ["TABLE", "tables_as_lists"]
