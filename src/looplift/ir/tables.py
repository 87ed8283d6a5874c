"""Dicts that loops fill key by key, where the keys are the loops' own indices, become lists that grow.

near = {}                              rows = []
for i in range(n):                     for i in range(n):
    for j in range(n):                     row = []
        near[i, j] = f(i, j)               for j in range(n):
                                               row.append(f(i, j))
                                           rows.append(row)
... near[a, b] ...                     ... rows[a][b] ...     where 0 <= a and 0 <= b

A key may also be ``i // step`` where ``i`` is of ``range(0, n, step)``: it counts the iterations as well.
A negative key is not in the dict, and one that is too large is not in the list either: then the original runs.

A dict that is only filled, at one place, and handed out is made of two lists, whatever its keys are:

near = {}                              keys, values = [], []
for i in range(n):                     for i in range(n):
    near[name(i)] = f(i)                   keys.append(name(i)); values.append(f(i))
                                       near = dict(zip(keys, values))
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.ir.filled import counts_by, counts_up, is_same
from looplift.ir.gathered import gathered
from looplift.ir.grammar import (
    TABLE,
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
    as_atom,
    atoms,
    uses,
    walk,
)
from looplift.ir.integers import Integers
from looplift.ir.prune import prune


def tables_as_lists(function: Function) -> Function:
    """The same function without tables; raises NotLiftable where one is used in another way."""
    function = prune(function)  # a name that a later iteration binds anew is no use
    for made in [s for s in walk(function.body) if isinstance(s, Let) and s.op.name == TABLE]:
        if any(atom is made.var for _, atom in function.results):
            function = _handed_out(function, made)
            continue
        function = gathered(function, made) or function
        if any(statement is made for statement in walk(function.body)):
            function = replace(function, body=_Table(function, made).replaced(function.body))
    return function


def _refusal(made: Let) -> NotLiftable:
    message = "a dict is read or written at a place that is not known before the loop runs"
    return NotLiftable("unsupported-value", message, made.span)


def _holds_itself(store: Store) -> bool:
    return store.ref in (*atoms(store.index), store.value)


# ---------------------------------------------------------------- dicts that are handed out


def _handed_out(function: Function, made: Let) -> Function:
    """The function with lists of keys and values in place of a dict that is a result and otherwise only filled."""
    users = [s for s in walk(function.body) if made.var in uses(s)]
    stores = [s for s in users if isinstance(s, Store) and s.ref is made.var and s.combine is None]
    if len(users) != 1 or len(stores) != 1 or _holds_itself(stores[0]) or made not in function.body:
        raise _refusal(made)
    store, number = stores[0], made.var.name.partition(".")[2]
    parts = store.index.items if isinstance(store.index, Group) else (store.index,)
    keys = [Var(f"keys.d{number}_{position}") for position in range(len(parts))]
    values, table = Var(f"values.d{number}"), Var(f"{made.var.hint}.d{number}")
    filling = [Append(ref, as_atom(part), store.span) for ref, part in zip(keys, parts, strict=True)]
    body = _with(function.body, made, [replace(made, var=ref, op=Op("list")) for ref in (*keys, values)])
    body = _with(body, store, [*filling, Append(values, store.value, store.span)])
    last = [replace(made, var=table, op=Op("mapping", (keys[0], values)))]
    if isinstance(store.index, Group):
        pairs = Var(f"pairs.d{number}")
        last = [replace(made, var=pairs, op=Op("zipped", tuple(keys)))]
        last.append(replace(made, var=table, op=Op("mapping", (pairs, values))))
    results = tuple((name, table if atom is made.var else atom) for name, atom in function.results)
    return replace(function, body=Block((*body, *last)), results=results)


def _with(block: Block, old: Statement, new: Sequence[Statement]) -> Block:
    """The block with other statements in one's place."""
    found: list[Statement] = []
    for statement in block:
        match statement:
            case _ if statement is old:
                found += new
            case If(then=then, orelse=orelse):
                found.append(replace(statement, then=_with(then, old, new), orelse=_with(orelse, old, new)))
            case Loop(body=body):
                found.append(replace(statement, body=_with(body, old, new)))
            case _:
                found.append(statement)
    return Block(tuple(found))


# ---------------------------------------------------------------- dicts that are read


class _Table:
    def __init__(self, function: Function, made: Let):
        self.function = function
        self.made = made
        self.numbers = itertools.count(1)
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.integers = Integers(function)
        users = [s for s in walk(function.body) if made.var in uses(s)]
        self.stores = [s for s in users if isinstance(s, Store)]
        self.reads = [s for s in users if isinstance(s, Let) and s.op.name == "getitem" and s.op.args[0] is made.var]
        if len(self.stores) != 1 or len(users) != len(self.reads) + 1 or _holds_itself(self.stores[0]):
            raise self.refusal()

    def refusal(self) -> NotLiftable:
        return _refusal(self.made)

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
        if not isinstance(statement, Loop) or not self._counts(statement, keys[0]):
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

    def _counts(self, loop: Loop, key: Operand) -> bool:
        """Whether a key is the number of iterations that came before; the step of a range is not zero."""
        if key is loop.index or not isinstance(key, Var):
            return key is loop.index and counts_up(loop)
        let = self.lets.get(key)
        if let is None or let.op.name != "floordiv":
            return False
        number, step = let.op.args
        if number is loop.index:
            return counts_by(loop, step)
        times = self.lets.get(number) if isinstance(number, Var) else None
        if times is None or times.op.name != "mul" or times.op.args[0] is not loop.index or not counts_up(loop):
            return False
        return is_same(times.op.args[1], step) and self.integers.has(step)

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
            if not isinstance(key, Var | Const) or not self.integers.has(key):
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
        if key in self.integers.natural or isinstance(key, Const):
            return []
        holds = self._fresh("holds")
        why = "a key of a dict is not negative"
        return [Let(holds, Op("ge", (key, Const(0))), read.span), Require(holds, why, read.span)]

    def _fresh(self, hint: str) -> Var:
        return Var(f"{hint}.k{self.made.var.name.partition('.')[2]}_{next(self.numbers)}")


__all__ = ["tables_as_lists"]
