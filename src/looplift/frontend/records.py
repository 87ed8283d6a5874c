"""Lists of tuples, of short lists or of dicts that the region fills, kept as columns: a list for each of their items.

out.append([a, b])                firsts.append(a); seconds.append(b)
out.append({"x": a, "y": b})      and a list of lists or dicts where ``out`` leaves the region
"""

from __future__ import annotations

from collections.abc import Hashable

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.frontend import iteration
from looplift.frontend.scope import PLAIN, Builder, Site, Structure, Tup, Value
from looplift.frontend.structures import Shelf, key_of, restart
from looplift.ir.grammar import Append, Atom, Const, Group, Range, Var


@dataclass(frozen=True)
class Columns:
    """The form of the items of a list: what they are, how many items each has, and the forms of those items."""

    parts: tuple[Columns | None, ...]
    kind: str = "tuple"
    keys: tuple[Hashable, ...] = ()


def form_of(build: Builder, value: Value) -> Columns | None:
    """The form of a tuple, a list or a dict that is known item by item; None of anything else."""
    if not isinstance(value, Tup | Shelf):
        return None
    parts = tuple(form_of(build, item) for item in items_of(build, value))
    if isinstance(value, Tup):
        return Columns(parts)
    return Columns(parts, value.kind, tuple(value.cells) if value.kind == "dict" else ())


def items_of(build: Builder, value: Tup | Shelf) -> list[Value]:
    """The items of a tuple, a list or a dict that is known item by item."""
    return list(value.items) if isinstance(value, Tup) else value.values(build)


def parts(build: Builder, value: Value) -> list[Value]:
    """What a value is made of, tuples, lists and dicts that are known item by item taken apart."""
    if not isinstance(value, Tup | Shelf):
        return [value]
    return [part for item in items_of(build, value) for part in parts(build, item)]


def is_columnar(form: Columns) -> bool:
    """Whether each record has an item, so that the columns tell how many records there are."""
    return bool(form.parts) and all(part is None or is_columnar(part) for part in form.parts)


class Refilled(Structure):
    """What may have to be an ordinary list after all: then the translation starts again."""

    site: Site

    def refusal(self, build: Builder, doing: str) -> NotLiftable:
        restart(build, self.site, PLAIN)
        return super().refusal(build, doing)


@dataclass(eq=False)
class Record(Refilled):
    """One of the lists or dicts of a list, read item by item."""

    form: Columns
    items: tuple[Value, ...]
    site: Site
    noun = "an item of a list that the region fills"

    def item(self, build: Builder, key: Value) -> Value:
        known = key_of(key)
        if self.form.kind == "dict":
            if known not in self.form.keys:
                raise self.refusal(build, "read at a key that it may not have")
            return self.items[self.form.keys.index(known)]
        if type(known) is not int or not -len(self.items) <= known < len(self.items):
            raise self.refusal(build, "read at a place that is not known before the loop runs")
        return self.items[known]

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        if self.form.kind == "dict" or count not in (None, len(self.items)):
            raise self.refusal(build, f"unpacked into {count} names")
        return self.items

    def length(self, build: Builder) -> Atom:
        return Const(len(self.items))


@dataclass(eq=False)
class RecordList(Refilled):
    """A list of tuples, lists or dicts of one form: one list of the IR for each of their items."""

    form: Columns
    lists: Tup
    site: Site
    is_taken_apart: bool = False
    """Whether its columns were handed out, as tuples that do not grow any more."""
    noun = "a list of tuples, lists or dicts"

    def atom(self, build: Builder) -> Atom:
        def zipped(part: Value, form: Columns | None) -> Atom:
            if form is None:
                assert isinstance(part, Var)
                return part
            assert isinstance(part, Tup)
            columns = [zipped(*pair) for pair in zip(part.items, form.parts, strict=True)]
            if form.kind == "dict":
                return build.emit("zipped_dicts", Group("tuple", tuple(map(Const, form.keys))), *columns, hint="items")
            return build.emit("zipped" if form.kind == "tuple" else "zipped_lists", *columns, hint="items")

        return zipped(self.lists, self.form)

    def _first(self) -> Var:
        found: Value = self.lists
        while isinstance(found, Tup):
            found = found.items[0]
        assert isinstance(found, Var)
        return found

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", self._first())

    def iterated(self, build: Builder) -> iteration.Source:
        count = build.emit("iter_len", self._first(), hint="n")
        domain = Range(Const(0), count, Const(1), self._first())
        return iteration.Source(domain, lambda build, index: self._read(build, "iter_item", index), (self._first(),))

    def item(self, build: Builder, key: Value) -> Value:
        return self._read(build, "getitem", build.atom(key))

    def _read(self, build: Builder, name: str, index: Atom) -> Value:
        def read(part: Value, form: Columns | None) -> Value:
            if form is None:
                assert isinstance(part, Var)
                return build.emit(name, part, index, hint="item")
            assert isinstance(part, Tup)
            items = tuple(read(*pair) for pair in zip(part.items, form.parts, strict=True))
            return Tup(items) if form.kind == "tuple" else Record(form, items, self.site)

        return read(self.lists, self.form)

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name != "append" or len(args) != 1 or kwargs:
            return super().method(build, name, args, kwargs)
        (value,) = args
        if self.is_taken_apart:
            raise build.refuse("aliasing", "a list grows after 'zip(*...)' has given its columns")
        if form_of(build, value) != self.form:
            if self.form.kind != "tuple":
                restart(build, self.site, PLAIN)
            raise build.refuse("mixed-kinds", "a list holds tuples, lists or dicts of different forms")
        self._append(build, self.lists, value)
        return Const(None)

    def columns(self) -> list[Value] | None:
        """Its columns, where each item of a record is a value of its own."""
        refs = [ref for ref in self.lists.items if isinstance(ref, Var)]
        if self.form.kind == "dict" or len(refs) < len(self.lists.items):
            return None
        self.is_taken_apart = True
        return [Column(ref) for ref in refs]

    def _append(self, build: Builder, lists: Value, value: Value) -> None:
        if not isinstance(lists, Tup):
            assert isinstance(lists, Var)
            build.add(Append(lists, build.atom(value), build.span))
            return
        assert isinstance(value, Tup | Shelf)
        for part, item in zip(lists.items, items_of(build, value), strict=True):
            self._append(build, part, item)
        if isinstance(value, Shelf) and not value.hand_over(build):
            raise self.refusal(build, "filled with an object that may be used elsewhere")


@dataclass(eq=False)
class Column(Structure):
    """What ``zip(*pairs)`` gives for one place of the pairs: a tuple of as many items as the list has."""

    ref: Var
    noun = "a tuple of as many items as a loop has iterations"

    def operand(self, build: Builder) -> Atom:
        return self.ref

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", self.ref)

    def iterated(self, build: Builder) -> iteration.Source:
        return iteration.sequence(build, self.ref)

    def item(self, build: Builder, key: Value) -> Value:
        return build.emit("getitem", self.ref, build.atom(key))


def columns(build: Builder, form: Columns, site: Site) -> RecordList:
    """An empty list of records of this form."""

    def made(part: Columns | None) -> Value:
        return build.emit("list", hint="items") if part is None else Tup(tuple(map(made, part.parts)))

    lists = made(form)
    assert isinstance(lists, Tup)
    return RecordList(form, lists, site)
