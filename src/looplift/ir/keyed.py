"""Dicts that loops fill under items of a list of the caller are dicts under the places of these items.

made = {}                               made = {}
for row in rows:                        for i, row in enumerate(rows):
    made[row["id"]] = f(row)                made[i] = f(row)
for row in rows:                        for i, row in enumerate(rows):
    ... made[row["id"]] ...                 ... made[i] ...
for key, value in made.items():         for k, (_, value) in enumerate(made.items()):
    ... key ...                             ... rows[k]["id"] ...

That is so where all items are different, which is asked before each run.
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.filled import counts_up
from looplift.ir.grammar import (
    TABLE,
    Atom,
    Function,
    Group,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    constant,
    uses,
    walk,
)
from looplift.ir.prune import prune
from looplift.ir.started import LENGTHS, Changes
from looplift.ir.writes import Writes


def keyed_by_places(function: Function) -> tuple[Function, tuple[Var, ...]]:
    """The same function with places in place of such keys, and the lists whose items must be different."""
    function = prune(function)  # a name that a later iteration binds anew is no use
    keyed = _Keyed(function)
    for made in [s for s in walk(function.body) if isinstance(s, Let) and s.op.name == TABLE]:
        keyed.read(made)
    if not keyed.changes.statements:
        return function, ()
    changed = prune(replace(function, body=keyed.changes.block(function.body)))
    used = {atom for statement in walk(changed.body) for atom in uses(statement)}
    unused = {column for column in keyed.columns if column not in used}
    paths = {var: path for var, path in changed.attributes["paths"].items() if var not in unused}
    left = tuple(var for var in changed.params if var not in unused)
    return replace(changed, params=left, attributes=changed.attributes | {"paths": paths}), tuple(keyed.columns)


class _Keyed:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.values = function.attributes["values"]
        self.changes = Changes({}, {})
        self.columns: dict[Var, None] = {}
        self.places: dict[Operand, tuple[Var, Atom]] = {}
        """For what is an item of a list of the caller's the list and the place."""
        self.users: dict[Atom, list[Statement]] = {}
        self.writes = Writes(function, walk(function.body))
        self.indices = {s.index for s in walk(function.body) if isinstance(s, Loop)}
        for statement in walk(function.body):
            for atom in dict.fromkeys(uses(statement)):
                self.users.setdefault(atom, []).append(statement)
            if isinstance(statement, Let) and statement.op.name == "iter_item":
                column, place = statement.op.args
                if self._tells_apart(column) and place in self.indices:
                    self.places[statement.var] = column, place  # pyright: ignore[reportArgumentType]

    def _tells_apart(self, column: Operand) -> bool:
        """Whether a list of the caller's holds keys that are all different, this time, and stay what they are."""
        if not isinstance(column, Var) or column not in self.function.params or self.writes.may_change_items(column):
            return False
        items = self.values.get(column)
        return type(items) is list and {*map(type, items)} in ({str}, {int}) and len({*items}) == len(items)

    # ------------------------------------------------------------ one dict

    def read(self, made: Let) -> None:
        """Note the changes for one dict, if it is such a one."""
        users = self.users.get(made.var, [])
        stores = [user for user in users if isinstance(user, Store) and user.ref is made.var]
        if len(stores) != 1 or any(atom is made.var for _, atom in self.function.results):
            return
        columns = self._columns(stores[0].index)
        if not any(columns) or stores[0].value is made.var:
            return
        changes: dict[int, tuple[Statement, ...]] = {}
        for user in users:
            if not self._is_changed(user, made.var, columns, stores[0], changes):
                return
        self.changes.statements |= changes
        self.columns |= dict.fromkeys(column for column in columns if column is not None)

    def _columns(self, index: Operand) -> list[Var | None]:
        """The list that each part of a key is an item of."""
        return [self.places[part][0] if part in self.places else None for part in _parts(index)]

    def _at_places(self, index: Operand, columns: list[Var | None]) -> Operand | None:
        """A key with the places of its parts; None where a part is no item of the list that it should be of."""
        parts = _parts(index)
        if len(parts) != len(columns) or self._columns(index) != columns:
            return None
        placed = tuple(
            part if column is None else self.places[part][1] for part, column in zip(parts, columns, strict=True)
        )
        return replace(index, items=placed) if isinstance(index, Group) else placed[0]

    def _is_changed(
        self,
        user: Statement,
        table: Var,
        columns: list[Var | None],
        store: Store,
        changes: dict[int, tuple[Statement, ...]],
    ) -> bool:
        """Whether a use of a dict is one that the places allow; what becomes of it is noted."""
        if isinstance(user, Store):
            index = self._at_places(user.index, columns)
            changes[id(user)] = (replace(user, index=index),)
            return index is not None
        if isinstance(user, Let) and user.op.name == "getitem" and user.op.args[0] is table:
            index = self._at_places(user.op.args[1], columns)
            changes[id(user)] = (replace(user, op=replace(user.op, args=(table, index))),)
            return index is not None
        if len(columns) > 1 or columns[0] is None or not self._is_filled_in_order(store):
            return False
        return self._is_gone_through(user, table, columns[0], changes)

    def _is_filled_in_order(self, store: Store) -> bool:
        """Whether the key of each iteration of a loop is the item at its number."""
        (place,) = (self.places[part][1] for part in _parts(store.index))
        loop = next(s for s in walk(self.function.body) if isinstance(s, Loop) and s.index is place)
        return counts_up(loop) and store in loop.body.statements

    def _is_gone_through(
        self, user: Statement, table: Var, column: Var, changes: dict[int, tuple[Statement, ...]]
    ) -> bool:
        if _is_source(user, table) or _has_length(user, table):
            return True
        if not isinstance(user, Let) or user.op.kwargs or user.op.args[0] is not table:
            return False
        if user.op.name == "iter_item":
            return self._is_key(user, user.op.args[1], column, changes)
        if user.op.name not in ("method.items", "method.values", "method.keys") or len(user.op.args) > 1:
            return False
        others = [one for one in self.users.get(user.var, []) if not _is_source(one, user.var)]
        others = [one for one in others if not _has_length(one, user.var)]
        if user.op.name == "method.values":
            return True
        if not all(isinstance(one, Let) and one.op.name == "iter_item" for one in others):
            return False
        items = [one for one in others if isinstance(one, Let)]
        if user.op.name == "method.keys":
            return all(self._is_key(one, one.op.args[1], column, changes) for one in items)
        return all(self._is_item(one, column, changes) for one in items)

    def _is_item(self, item: Let, column: Var, changes: dict[int, tuple[Statement, ...]]) -> bool:
        for part in self.users.get(item.var, []):
            if not isinstance(part, Let) or part.op.name != "unpack" or constant(part.op.args[2]) != 2:
                return False
            if constant(part.op.args[1]) == 0 and not self._is_key(part, item.op.args[1], column, changes):
                return False
        return True

    def _is_key(self, key: Let, place: Operand, column: Var, changes: dict[int, tuple[Statement, ...]]) -> bool:
        if place not in self.indices:
            return False
        changes[id(key)] = (replace(key, op=Op("iter_item", (column, place))),)
        self.places[key.var] = column, place  # pyright: ignore[reportArgumentType]
        return True


def _parts(index: Operand) -> tuple[Operand, ...]:
    return index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)


def _is_source(user: Statement, sequence: Var) -> bool:
    return (
        isinstance(user, Loop)
        and isinstance(user.domain, Range)
        and user.domain.source is sequence
        and not any(sequence in (carry.init, carry.next) for carry in user.carries)
    )


def _has_length(user: Statement, sequence: Var) -> bool:
    return isinstance(user, Let) and user.op.name in LENGTHS and user.op.args[0] is sequence
