"""Lists of lists of records, and lists of sets, tuples or texts, of the caller in; lists of numbers out.

    for node, weight in edges[v]    [[row[0] for row in rows] for rows in edges][v], and [[row[1] ...
    for node in members[v]          [list(rows) for rows in members][v]
    if kinds[v] == "user":          [row == "user" for row in kinds][v]

What they hold is read whenever the region begins.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import dictionaries, evident, gaps, iteration, rows
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Atom

Reader = Callable[[Builder, Atom], Atom]
"""From a list of lists to one of its lists."""


def list_at(build: Builder, path: str, samples: Sequence[Any], read: Reader) -> Value | None:
    """One list of a list of lists of records, one of a list of sets or of tuples, or a text; None for others."""
    kinds = {*map(type, samples)}
    if build.changes:
        return None
    if gaps.has_gaps(samples):
        return gaps.item_at(build, path, samples, read)
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is str:
        build.beforehand = True
        build.watch(None, f"{{*map(type, {path})}}", kinds)
        return Word(path, "", list(samples), read)
    if kind is list:
        return _records_at(build, path, samples, read)
    items = {type(item) for sample in samples for item in sample} if kind in (tuple, set, frozenset) else set()
    if not items or not items <= {int, float, bool}:
        return None
    build.beforehand = True
    build.watch(None, f"{{*map(type, {path})}}", kinds)
    column = build.live_in(f"[list(rows) for rows in {path}]", [list(sample) for sample in samples])
    return Frozen(kind, read(build, column))


def _records_at(build: Builder, path: str, samples: Sequence[list[Any]], read: Reader) -> Value | None:
    flat = [item for sample in samples for item in sample]
    if gaps.has_gaps(flat):
        return gaps.row_at(build, path, samples, read)
    if not rows.is_list_of_rows(flat) and {*map(type, flat)} != {str}:
        return None
    build.beforehand = True
    build.watch(None, f"{{*map(type, {path})}}", {list})
    _watch_types(build, path, "", flat)
    return Records(path, samples, read)


def _watch_types(build: Builder, path: str, suffix: str, flat: list[Any]) -> None:
    build.watch(None, f"{{type(row{suffix}) for rows in {path} for row in rows}}", {*map(type, flat)})


@dataclass(eq=False)
class Frozen(Structure):
    """A set or tuple, as the list of its items: they are read, and nothing else may hold it."""

    kind: type
    whole: Atom
    is_itself = False

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"a {self.kind.__name__} that is read as the list of its items"

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", self.whole)

    def iterated(self, build: Builder) -> iteration.Source:
        return iteration.sequence(build, self.whole)

    def contains(self, build: Builder, key: Value) -> Atom:
        if (table := dictionaries.members(build, self.whole, key)) is not None:
            return build.atom(table.contains(build, key))
        return build.emit("in_", build.atom(key), self.whole)

    def item(self, build: Builder, key: Value) -> Value:
        if self.kind is not tuple or not evident.is_integer(build, place := build.atom(key)):
            raise self.refusal(build, "subscripted by something that is not surely an integer of Python's")
        return build.emit("getitem", self.whole, place)


@dataclass(eq=False)
class Word(rows.Record):
    """A text of a list of texts: what it is compared with, or the key of, is asked of all beforehand."""

    read: Reader

    def atom(self, build: Builder) -> Atom:
        return self.read(build, build.live_in(self.path, self.samples))

    def derived(self, build: Builder, text: str, read: Callable[[Any], Any]) -> Value:
        column = build.live_in(f"[{text.format('')} for row in {self.path}]", list(map(read, self.samples)))
        return self.read(build, column)

    def item(self, build: Builder, key: Value) -> Value:
        return build.emit("getitem", self.atom(build), build.atom(key))

    def iterated(self, build: Builder) -> iteration.Source:
        return iteration.sequence(build, self.atom(build))

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", self.atom(build))

    def contains(self, build: Builder, key: Value) -> Atom:
        return build.emit("in_", build.atom(key), self.atom(build))

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        named = {key: build.atom(value) for key, value in kwargs.items()}
        return build.operation(f"method.{name}", [self.atom(build), *map(build.atom, args)], named)


@dataclass(eq=False)
class Records(gaps.Row):
    """One list of records of a list of such lists."""

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"an item of '{self.path}', a list of records,"

    def atom(self, build: Builder) -> Atom:
        return self.read(build, build.live_in(self.path, list(self.samples)))

    def numbered(self, build: Builder) -> Atom:
        return self.read(build, numbers(build, self.path, self.samples))

    def entry(self, build: Builder, name: str, place: Atom) -> Entry:
        flat = [item for sample in self.samples for item in sample]
        take = lambda build, column: build.emit(name, self.read(build, column), place, hint="item")  # noqa: E731
        return Entry(self.path, "", flat, self.samples, take)


@dataclass(eq=False)
class Entry(rows.Record):
    """One record of such a list: a field of it is an item of a list of the column's lists."""

    groups: Sequence[list[Any]]
    take: Reader

    def atom(self, build: Builder) -> Atom:
        return self.take(build, self._column(build, f"row{self.suffix}", self.samples))

    @property
    def everything(self) -> str:
        return f"[row for rows in {self.path} for row in rows]"

    def part(self, build: Builder, suffix: str, read: Callable[[Any], Any]) -> Value:
        suffix, flat = self.suffix + suffix, list(map(read, self.samples))
        kinds = {*map(type, flat)}
        if rows.is_list_of_rows(flat) or (str in kinds and kinds <= {str, types.NoneType}):
            _watch_types(build, self.path, suffix, flat)
            return Entry(self.path, suffix, flat, self.groups, self.take)
        return self.take(build, self._column(build, f"row{suffix}", flat))

    def derived(self, build: Builder, text: str, read: Callable[[Any], Any]) -> Value:
        return self.take(build, self._column(build, text.format(self.suffix), list(map(read, self.samples))))

    def _column(self, build: Builder, text: str, flat: list[Any]) -> Atom:
        """What is read of all records, in lists as theirs."""
        items = iter(flat)
        lists = [[next(items) for _ in group] for group in self.groups]
        column = f"[[{text} for row in rows] for rows in {self.path}]"
        build.alike[column] = numbers(build, self.path, self.groups)
        return build.live_in(column, lists)


def numbers(build: Builder, path: str, samples: Sequence[list[Any]]) -> Atom:
    """Lists of as many numbers as there are records."""
    return build.live_in(f"[[0] * len(rows) for rows in {path}]", [[0] * len(one) for one in samples])
