"""Dicts of the caller's that have some of several names each in, objects with a field for each name out.

node = {"split": 3, "cut": 0.5, "yes": {"leaf": 7}, "no": {"leaf": 8}}
while "leaf" not in node:
    node = node["yes"] if row[node["split"]] < node["cut"] else node["no"]

Those that hold one another, or are items of one list, have one type. An object knows which of the names it has; where
one is read that it lacks, the loop runs, which raises.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from looplift.emit.typed_classes import Record
from looplift.emit.typed_named_dicts import MOST, NamedDicts, are_names, is_named
from looplift.emit.typed_scope import Value, coerced, evaluated, refuse
from looplift.emit.typed_types import NEVER, NONE, TEXT, Maybe, text_of

OPTIONAL = "?"
"""What the key of a record begins with whose objects have some of its names each; it is no name itself."""


class OptionalNames(NamedDicts):
    """What is done with such dicts, where ``has_optional_names``."""

    has_optional_names: bool
    values: Mapping[str, Any]
    _groups: dict[int, tuple[str, ...]] | None = None

    def given_objects(self, made: type, values: list[Any], seen: dict[int, Any]) -> tuple[list[Any], list[Any]]:
        if made is not dict or not self.has_optional_names:
            return super().given_objects(made, values, seen)
        if self._groups is None:
            self._groups = groups_of(list(self.values.values()))
        by_names: dict[tuple[str, ...] | None, list[dict[Any, Any]]] = {}
        for value in values:
            by_names.setdefault(self._groups.get(id(value)), []).append(value)
        alike = by_names.pop(None, [])
        found, others = super().given_objects(made, alike, seen) if alike else ([], [])
        for names, those in by_names.items():
            found.append(self.later(self.record_of_names((OPTIONAL, *(names or ()))), those, those, seen))
        return found, others

    def record_of_names(self, key: tuple[str, ...]) -> Record:
        record = super().record_of_names(key)
        record.is_partial = key[0] == OPTIONAL
        return record

    def _partial(self, owner: Value) -> Record | None:
        record = self.record_at(owner)
        return record if record is not None and record.is_partial else None

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if (record := self._partial(owner)) is None:
            return super().item(owner, index, node)
        owner = self.keep(owner)
        name = _constant(getattr(node, "slice", None))
        if name is not None:
            if name not in record.fields:
                self.emit("bail(KIND);")
                return Value(NEVER, "None_()")
            self.emit(f"if (!({_has(owner, record, name)})) bail(KIND);")
            return _field(owner, record, name)
        return self._item_of_some_name(owner, record, index, node)

    def _item_of_some_name(self, owner: Value, record: Record, index: Value, node: ast.AST) -> Value:
        """``node[branch]``: what the names of one type have, dicts of the kind itself before others."""
        if index.type not in (TEXT, NEVER):
            raise refuse(node, "is read under a name that is no text")
        cells = list(zip(record.fields, record.box.cells, strict=True))
        own = [cell for _, cell in cells if _inner(cell) is record.box]
        wanted = (own or [cell for _, cell in cells if cell is not NEVER] or [NEVER])[0]
        if wanted is NEVER or index.type is NEVER:
            return Value(NEVER, "None_()")
        name, found = self.fresh(), self.keep(index)
        chain = []
        for field, cell in cells:
            if _inner(cell) is _inner(wanted):
                test = f"{_has(owner, record, field)} && {self.equal(found, self.constant_text(field), node)}"
                chain.append(f"if ({test}) {name} = {coerced(_field(owner, record, field), wanted)}; else")
        self.lines += [f"{text_of(wanted)} {name};", *chain, "bail(KIND);"]
        return Value(wanted, name)

    def put_named(self, owner: Value, value: Value, node: ast.AST) -> bool:
        if (record := self._partial(owner)) is not None:
            owner, name = self.keep(owner), _constant(getattr(node, "slice", None))
            if name not in record.fields:
                raise refuse(node, "writes under a name that is not known")
            self.emit(f"if (!({_has(owner, record, name)})) bail(KIND);")
        return super().put_named(owner, value, node)

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        if (record := self._partial(owner)) is None:
            return super().contains(owner, item, node)
        name, owner = _constant(getattr(node, "left", None)), self.keep(owner)
        if name is not None:
            return f"({_has(owner, record, name)})" if name in record.fields else evaluated("false", owner)
        if item.type not in (TEXT, NEVER):
            raise refuse(node, "looks for a name that is no text")
        item = self.keep(item)
        tests = [
            f"({_has(owner, record, one)} && {self.equal(item, self.constant_text(one), node)})"
            for one in record.fields
        ]
        return f"({' || '.join(tests)})"

    def method_of_object(self, owner: Value, record: Record, node: ast.Call, func: ast.Attribute) -> Value:
        if not record.is_partial:
            return super().method_of_object(owner, record, node, func)
        name = _constant(node.args[0]) if node.args else None
        if func.attr != "get" or node.keywords or name is None or len(node.args) > 2:
            raise refuse(node, "calls a method of a dict without a form")
        owner = self.keep(owner)
        (other,) = [*map(self.keep, self.several(*node.args[1:])), Value(NONE, "None_()")][:1]
        if name not in record.fields:
            return other
        there = _field(owner, record, name)
        type_ = self.joins.join(there.type, other.type)
        if there.type is NEVER or type_ is NEVER:
            return other
        sides = coerced(there, type_), coerced(other, type_)
        return Value(type_, f"({_has(owner, record, name)} ? {text_of(type_)}({sides[0]}) : {sides[1]})")

    def _entries(self, generators: list[ast.comprehension]) -> Any:
        found = super()._entries(generators)
        if found is not None and self._partial(Value(self.peek(_owner_of(generators[0].iter)), "")) is not None:
            raise refuse(generators[0].iter, "goes through a dict that has some of several names")
        return found


def _owner_of(node: ast.expr) -> ast.expr:
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node


def _constant(node: Any) -> str | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is str else None


def _inner(type_: Any) -> Any:
    inner = type_.inner if isinstance(type_, Maybe) else type_
    return inner.find() if hasattr(inner, "find") else inner


def _has(owner: Value, record: Record, name: str) -> str:
    return f"({owner.code}->has >> {record.fields.index(name)} & 1) != 0"


def _field(owner: Value, record: Record, name: str) -> Value:
    return Value(record.box.cells[record.fields.index(name)], f"{owner.code}->v_{name}")


class _Group:
    """Dicts of one type; one that was joined to another stands for that."""

    def __init__(self) -> None:
        self.dicts: list[dict[str, Any]] = []
        self.joined: _Group | None = None

    def find(self) -> _Group:
        return self if self.joined is None else self.joined.find()

    def join(self, other: _Group) -> None:
        one, other = self.find(), other.find()
        if one is not other:
            other.dicts += one.dicts
            one.joined = other


_HOLDING = frozenset((dict, list, tuple))
"""What may hold dicts."""


def groups_of(values: list[Any]) -> dict[int, tuple[str, ...]]:
    """The names that some dict of its group has, for each dict by identity, where they are not the same in all.

    A group are dicts of a few names that hold one another, or are items of one list or tuple.
    """
    groups: dict[int, _Group] = {}
    seen: set[int] = set()
    known: dict[tuple[Any, ...], bool] = {}  # whether keys are names
    pending: list[tuple[Collection[Any], _Group]] = [((value,), _Group()) for value in values]
    while pending:
        items, group = pending.pop()
        for value in [] if _HOLDING.isdisjoint(map(type, items)) else items:
            if type(value) not in _HOLDING:
                continue
            if id(value) in seen:
                if id(value) in groups:
                    groups[id(value)].join(group)
                continue
            seen.add(id(value))
            if type(value) is not dict:
                pending.append((value, _Group()))
                continue
            if (names := tuple(value)) not in known:
                known[names] = are_names([*names])
            if known[names]:
                group.find().dicts.append(value)
                groups[id(value)] = group
            pending.append((value.values(), group if known[names] else _Group()))
    found: dict[int, tuple[str, ...]] = {}
    for group in {group.find() for group in groups.values()}:
        names = tuple(dict.fromkeys(name for value in group.dicts for name in value))
        if len({tuple(value) for value in group.dicts}) > 1 and any(map(is_named, group.dicts)) and len(names) <= MOST:
            found |= dict.fromkeys(map(id, group.dicts), names)
    return found
