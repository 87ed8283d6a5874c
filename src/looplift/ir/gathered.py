"""Dicts that a loop fills under its own indices and that are then gone through become lists of keys and of values.

near = {}                              keys, values = [], []
for j in range(n):                     for j in range(n):
    if j != i:                             if j != i:
        near[j] = f(i, j)                      keys.append(j); values.append(f(i, j))
for j in near:                         for k in range(len(keys)):
    ... j, near[j] ...                     ... keys[k], values[k] ...

An index has each of its values once, so the keys are different ones, and in the order in which they were stored.
Where it is read at other keys, too, the dict is filled beside the lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.data import replace
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
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
    children,
    constant,
    uses,
    walk,
)
from looplift.ir.prune import without_unread_lists

VIEWS = {"method.values": "values", "method.keys": "keys", "method.items": "items"}
COUNTED = frozenset(("iter_len", "builtin.len", "not"))
"""What is the same of a dict and of a list of its keys."""
FOLDED = COUNTED | {"builtin.sum", "builtin.min", "builtin.max"}


def gathered(function: Function, made: Let) -> Function | None:
    """The function with lists in place of a dict; None where it is used in another way.

    ``function`` has no statement that nothing reads.
    """
    gathering = _Gathering(function, made)
    if not gathering.is_possible():
        return None
    return without_unread_lists(replace(function, body=gathering.block(function.body)))


class _Gathering:
    def __init__(self, function: Function, made: Let) -> None:
        self.made = made
        self.body = function.body
        self.results = {atom for _, atom in function.results}
        self.users: dict[Atom, list[Statement]] = {}
        for statement in walk(function.body):
            for atom in dict.fromkeys(uses(statement)):
                self.users.setdefault(atom, []).append(statement)
        number = made.var.name.partition(".")[2]
        self.values = Var(f"values.g{number}")
        self.keys: list[Var] = []
        self.store: Store | None = None
        self.places: dict[Atom, Atom] = {}
        self.renamed: dict[Atom, Atom] = {}
        self.replaced: dict[Let, Let | None] = {}
        self.number = number
        self.is_kept = False

    # ------------------------------------------------------------ whether it is possible

    def is_possible(self) -> bool:
        """Whether the dict is filled by one loop, and then read in ways that the lists know."""
        users = self.users.get(self.made.var, [])
        stores = [user for user in users if isinstance(user, Store)]
        if len(stores) != 1 or stores[0].combine is not None or stores[0].value is self.made.var:
            return False
        self.store = stores[0]
        after = self._after_the_filling()
        if after is None or any(user not in after for user in users if user is not self.store):
            return False
        rest = [user for user in users if user is not self.store]
        reads = [user for user in rest if isinstance(user, Let) and user.op.name == "getitem"]
        others = [user for user in rest if user not in reads]
        if not self._reads(self.made.var, "keys", others):
            return False
        self.is_kept = not all(list(map(self._is_read_at_key, reads)))
        return bool(others) or not self.is_kept

    def _after_the_filling(self) -> list[Statement] | None:
        """What comes after the loops that fill the dict, if the keys are the indices of just these loops."""
        assert self.store is not None
        home = next((block for block in _blocks(self.body) if self.made in block.statements), None)
        if home is None:
            return None
        statements = home.statements
        at = next((k for k, one in enumerate(statements) if _holds(one, self.store)), None)
        if at is None:
            return None
        index = self.store.index
        keys = index.items if isinstance(index, Group) else (index,)
        indices = list(_indices(statements[at], self.store))
        if None in indices or len(keys) != len(indices) or set(keys) != set(indices):
            return None
        self.keys = [Var(f"keys.g{self.number}_{position}") for position in range(len(keys))]
        return list(walk(statements[at + 1 :]))

    def _reads(self, name: Atom, kind: str, users: list[Statement]) -> bool:
        return name not in self.results and all(self._is_read(name, kind, user) for user in users)

    def _is_read(self, name: Atom, kind: str, user: Statement) -> bool:
        is_dict = name is self.made.var
        if isinstance(user, Loop):
            carried = any(name in (carry.init, carry.next) for carry in user.carries)
            return isinstance(user.domain, Range) and user.domain.source is name and not carried
        if not isinstance(user, Let):
            return False
        op = user.op
        single = len(op.args) == 1 and not op.kwargs
        if op.name in VIEWS and single and is_dict:
            self.replaced[user] = None
            self.renamed[user.var] = self._list(VIEWS[op.name])
            return self._reads(user.var, VIEWS[op.name], self.users.get(user.var, []))
        if op.name in (COUNTED if is_dict or kind == "items" or len(self.keys) > 1 else FOLDED) and single:
            self.replaced[user] = replace(user, op=Op(op.name, (self._list(kind),)))
            return True
        if op.name == "iter_item" and op.args[0] is name:
            return self._is_item(user, kind)
        return False

    def _is_read_at_key(self, read: Let) -> bool:
        """Whether an item is read by a key that the dict gave, of which the place is known."""
        owner, key = read.op.args
        if owner is not self.made.var or not isinstance(key, Var) or key not in self.places:
            return False
        self.replaced[read] = replace(read, op=Op("iter_item", (self.values, self.places[key])))
        return True

    def _list(self, kind: str) -> Var:
        return self.values if kind == "values" else self.keys[0]

    def _is_item(self, item: Let, kind: str) -> bool:
        place = as_atom(item.op.args[1])
        if kind == "values":
            self.replaced[item] = replace(item, op=Op("iter_item", (self.values, place)))
            return True
        if kind == "keys":
            return self._is_key(item, place)
        users = self.users.get(item.var, [])
        self.replaced[item] = None
        for user in users:
            if not (isinstance(user, Let) and _is_part(user, item.var, 2)):
                return False
            if constant(user.op.args[1]) == 0:
                if not self._is_key(user, place):
                    return False
            else:
                self.replaced[user] = replace(user, op=Op("iter_item", (self.values, place)))
        return item.var not in self.results

    def _is_key(self, key: Let, place: Atom) -> bool:
        """A key, which is known by its place; of several parts it is no value of its own."""
        self.places[key.var] = place
        if len(self.keys) == 1:
            self.replaced[key] = replace(key, op=Op("iter_item", (self.keys[0], place)))
            return True
        self.replaced[key] = None
        for user in self.users.get(key.var, []):
            if isinstance(user, Let) and _is_part(user, key.var, len(self.keys)):
                part = self.keys[constant(user.op.args[1])]
                self.replaced[user] = replace(user, op=Op("iter_item", (part, place)))
            elif not (isinstance(user, Let) and user.op.name == "getitem" and user.op.args[1] is key.var):
                return False
        return key.var not in self.results

    # ------------------------------------------------------------ the lists instead

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self._made(statement)))

    def _made(self, statement: Statement) -> list[Statement]:
        if statement is self.made:
            lists: list[Statement] = [replace(self.made, var=ref, op=Op("list")) for ref in (*self.keys, self.values)]
            return [*lists, self.made] if self.is_kept else lists
        if isinstance(statement, Store) and statement is self.store:
            index = statement.index
            parts = index.items if isinstance(index, Group) else (index,)
            filled: list[Statement] = [
                Append(ref, as_atom(part), statement.span) for ref, part in zip(self.keys, parts, strict=True)
            ]
            filled.append(Append(self.values, statement.value, statement.span))
            return [*filled, statement] if self.is_kept else filled
        match statement:
            case Let() if statement in self.replaced:
                found = self.replaced[statement]
                return [] if found is None else [found]
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self.block(then), orelse=self.block(orelse))]
            case Loop(domain=domain, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=self.block(domain.block))
                elif domain.source is self.made.var:
                    domain = replace(domain, source=self.keys[0])
                elif domain.source is not None and domain.source in self.renamed:
                    domain = replace(domain, source=self.renamed[domain.source])
                return [replace(statement, domain=domain, body=self.block(body))]
        return [statement]


def _is_part(statement: Let, whole: Var, count: int) -> bool:
    """Whether a value is one of so many parts of another one."""
    op = statement.op
    return op.name == "unpack" and op.args[0] is whole and constant(op.args[2]) == count


def _blocks(block: Block) -> Iterator[Block]:
    """A block and all that are in it."""
    yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks(inner)


def _holds(statement: Statement, inner: Statement) -> bool:
    return any(found is inner for found in walk(Block((statement,))))


def _indices(statement: Statement, store: Store) -> Iterator[Var | None]:
    """The indices of the loops around a store, outermost first; None for one that does not count over a range."""
    while statement is not store:
        if isinstance(statement, Loop):
            yield statement.index if isinstance(statement.domain, Range) else None
        statement = next(inner for block in children(statement) for inner in block if _holds(inner, store))
