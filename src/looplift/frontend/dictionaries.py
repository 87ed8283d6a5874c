"""A dict under integers, or under tuples of integers, in; tables that a loop reads at places of the data out.

    d[k]            table[k - low]                          for low <= k <= high; else the loop runs, and raises
    d.get(k, e)     table[k - low] if there[k - low] else e
    (a, b) in d     there[first[a - low_a] + second[b - low_b]]

What the tables hold is read of the dict whenever the region begins. A key is a number of Python's, or an integer of
NumPy's; a tensor is never equal to one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import expressions, rows, statements, structures, unrolling
from looplift.frontend.columns import Columns, Listed, are_ragged, has_one_kind, watch_values
from looplift.frontend.scope import DICTS, Builder, Structure, Tup, Value
from looplift.ir.grammar import Atom, Const, Let, Require, Statement, Var

LIMIT = 1 << 16
"""Entries of a table at most."""
FAR = 1 << 40
"""Numbers that tuples stand for at most, where they are looked up among those of the keys."""
SHORT = 1 << 10
"""Entries of a table that is written out."""


@dataclass(eq=False)
class TupleOf(Structure):
    """``tuple(row)`` of a sequence whose length is not known: a key, or what is unpacked.

    ``block`` had ``since`` statements when it was made, and none after them may change the sequence before it is read.
    """

    sequence: Atom
    block: list[Statement]
    since: int
    noun = "a tuple of as many items as a loop has iterations"

    def atom(self, build: Builder) -> Atom:
        message = "a tuple is made of as many items as a loop has iterations; make it a list"
        raise build.refuse("unsupported-value", message)

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        depth = next((k for k, block in enumerate(build.blocks) if block is self.block), None)
        if count is None or depth is None:
            return (self.atom(build),)
        later = [*self.block[self.since :], *itertools.chain(*build.blocks[depth + 1 :])]
        if any(map(statements.has_effect, later)):
            raise self.refusal(build, "read after something was changed")
        return tuple(build.emit("unpack", self.sequence, Const(k), Const(count)) for k in range(count))


def tuple_of(build: Builder, value: Value) -> Value:
    """``tuple(value)`` of an array or list."""
    return TupleOf(build.atom(value), build.blocks[-1], len(build.blocks[-1]))


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, eq=False)
class Table:
    """``parts``: for each number of a key the least and the greatest, and how its place is reached.

    ``there``: whether a place holds a key; None where all between do. ``column``: what it holds. ``ended``: the same,
    and an empty list where it is told not to look; None where this has no form.
    """

    parts: tuple[Part, ...]
    there: Callable[[Builder, Atom], Value] | None
    column: Callable[[Builder, Atom], Value]
    ended: Callable[[Builder, Atom, Callable[[], Atom]], Value | None] = lambda build, found, place: None

    def contains(self, build: Builder, key: Value) -> Atom:
        """Whether there is such a key."""
        numbers = _numbers(build, key, len(self.parts))
        if numbers is None:
            return Const(False)
        return self._found(build, numbers)

    def _found(self, build: Builder, numbers: list[Atom]) -> Atom:
        def within(position: int) -> Value:
            if position == len(numbers):
                return self._is_there(build, numbers)
            part, number = self.parts[position], numbers[position]
            above = build.emit("ge", number, part.low(build))
            below = lambda: build.emit("le", number, part.high(build))  # noqa: E731
            return _and(build, build.atom(_and(build, above, below)), lambda: within(position + 1))

        return build.atom(within(0))

    def _is_there(self, build: Builder, numbers: list[Atom]) -> Value:
        if self.there is None:
            return Const(True)
        return self.there(build, self._place(build, numbers))

    def _place(self, build: Builder, numbers: list[Atom]) -> Atom:
        terms = [part.place(build, number) for part, number in zip(self.parts, numbers, strict=True)]
        place = terms[0]
        for term in terms[1:]:
            place = build.emit("add", place, term)
        return place

    def item(self, build: Builder, key: Value) -> Value:
        """``d[key]``."""
        numbers = _numbers(build, key, len(self.parts))
        if numbers is None:
            raise build.refuse("requirement", "a dict has no such key")
        build.add(Require(self._found(build, numbers), "a dict has no such key", build.span))
        return self.column(build, self._place(build, numbers))

    def get(self, build: Builder, key: Value, default: Value = Const(None)) -> Value:
        """``d.get(key, default)``."""
        is_empty = _is_empty(build, default)
        numbers = _numbers(build, key, len(self.parts))
        if numbers is None:
            return default
        found, place = self._found(build, numbers), lambda: self._place(build, numbers)
        if is_empty and (listed := self.ended(build, found, place)) is not None:
            return listed
        return expressions.conditional(build, found, lambda: self.column(build, place()), lambda: default)


def _is_empty(build: Builder, value: Value) -> bool:
    """Whether a value is ``[]`` or ``()``, made last."""
    last = build.blocks[-1][-1] if build.blocks[-1] else None
    if isinstance(last, Let) and last.var is value:
        return last.op.name == "list" and not last.op.args
    return (isinstance(value, Tup) and not value.items) or (isinstance(value, Const) and value.value == ())


def _and(build: Builder, first: Atom, rest: Callable[[], Value]) -> Value:
    return expressions.conditional(build, first, rest, lambda: Const(False))


@dataclass(frozen=True, eq=False)
class Part:
    """One number of a key: the least and the greatest there is, and the place that it stands for."""

    low: Callable[[Builder], Atom]
    high: Callable[[Builder], Atom]
    place: Callable[[Builder, Atom], Atom]


def _numbers(build: Builder, key: Value, count: int) -> list[Atom] | None:
    """The numbers that a key consists of; None for a key of another kind, which no dict of such keys holds."""
    if count == 1 and not isinstance(key, Tup | TupleOf):
        keys: tuple[Value, ...] = (key,)
    elif isinstance(key, TupleOf) and count > 1:
        keys = key.unpacked(build, count)
    elif isinstance(key, Tup) and count > 1 and len(key.items) == count:
        keys = key.items
    elif isinstance(key, rows.Row) and {*map(type, key.samples)} == {tuple}:
        keys = key.unpacked(build, None)
        if len(keys) != count:
            return None
    elif isinstance(key, Const | Tup | TupleOf):
        return None
    else:
        raise build.refuse("unsupported-value", "a dict or set of tuples is asked for what may be one")
    return [build.emit("as_key", build.atom(one)) for one in keys]


# ---------------------------------------------------------------- of the caller


def table_of(build: Builder, value: Value) -> Table | None:
    """The tables of a dict, of the caller or known item by item; None where it is none, or has other keys."""
    if isinstance(value, structures.Shelf):
        return _of_shelf(value) if value.kind == "dict" else None
    path = build.param_path(value)
    found: Any = build.param_values[path] if path is not None else None
    if path is None or type(found) not in DICTS or build.changes:
        return None
    parts = _parts_of(found)
    if parts is None or not has_one_kind(found.values()):
        return None
    build.beforehand = True
    watch_values(build, path, found)
    return _of_numbers(build, path, found) if parts == 1 else _of_tuples(build, path, found, parts)


def unknown_key(build: Builder, owner: Value, key: Value) -> Table | None:
    """The tables of a dict for a key that is known in the loop only."""
    if structures.key_of(key) is not None:
        return None
    if isinstance(owner, structures.Shelf):
        unrolling.must_be_known(build, key)
    elif build.param_path(key) is not None and (path := build.param_path(owner)) is not None:
        held = build.param_values[path]
        if isinstance(held, dict) and are_ragged(held.values()):
            return None  # one list is looked up, and no table of all is made
    return table_of(build, owner)


def members(build: Builder, owner: Value, key: Value) -> Table | None:
    """The tables of a dict, set or list of which it is asked whether it holds what is known in the loop only."""
    path = build.param_path(owner)
    found: Any = build.param_values[path] if path is not None else None
    if path is None or type(found) not in (set, frozenset, list) or structures.key_of(key) is not None:
        return unknown_key(build, owner, key)
    if type(found) is list and {*map(type, found)} != {int}:
        return None  # what is compared item by item may be equal otherwise
    parts = None if build.changes else _parts_of(found)
    if parts is None:
        return None
    build.beforehand = True
    path = f"set({path})" if type(found) is list else path
    held = dict.fromkeys(found)
    return _of_numbers(build, path, held) if parts == 1 else _of_tuples(build, path, held, parts)


def _parts_of(keys: Collection[Any]) -> int | None:
    """Of how many integers all keys consist; None for keys of other kinds, or of different lengths."""
    if not keys:
        return None
    if {*map(type, keys)} == {int}:
        return 1 if _spread([*keys]) <= LIMIT else None
    if {*map(type, keys)} != {tuple} or len({*map(len, keys)}) != 1:
        return None
    columns = list(zip(*keys, strict=True))
    if len(columns) < 2 or any({*map(type, column)} != {int} or _spread(column) > LIMIT for column in columns):
        return None
    return len(columns) if len(keys) <= LIMIT and math.prod(map(_spread, columns)) <= FAR else None


def _spread(numbers: Any) -> int:
    return max(numbers) - min(numbers) + 1


def _of_numbers(build: Builder, path: str, found: Mapping[Any, Any]) -> Table:
    low, high = min(found), max(found)
    span, dense = f"range(min({path}), max({path}) + 1)[:{LIMIT}]", len(found) == high - low + 1
    build.watch(None, f"{{*map(type, {path})}}", {int})
    size = f"max({path}) - min({path}) + 1"
    build.watch(None, f"(len({path}) == {size} <= {LIMIT})" if dense else f"(len({path}) < {size} <= {LIMIT})", True)

    if low == 0:
        build.watch(None, f"min({path})", 0)

    def least(build: Builder) -> Atom:
        return Const(0) if low == 0 else build.live_in(f"min({path})", low)

    def there(build: Builder, place: Atom) -> Value:
        held = [key in found for key in range(low, high + 1)]
        return build.emit("getitem", build.live_in(f"list(map({path}.__contains__, {span}))", held), place)

    part = Part(
        least,
        lambda build: build.live_in(f"max({path})", high),
        lambda build, number: number if low == 0 else build.emit("sub", number, least(build)),
    )
    keys = f"range(len({path}))" if dense and low == 0 else span
    columns = Columns(path, keys, f"len({keys})", found, range(low, high + 1))
    return Table((part,), None if dense else there, columns.at, columns.ended)


def _of_places(build: Builder, path: str, found: Mapping[Any, Any], count: int, *, near: bool) -> Table:
    """``(a - low_a) * width + b - low_b`` stands for the key's own number, in a table where the numbers lie close
    together; else it is looked up among those of all keys."""
    lows = [f"min([key[{k}] for key in {path}])" for k in range(count)]
    highs = [f"max([key[{k}] for key in {path}])" for k in range(count)]
    widths = [f"({high} - {low} + 1)" for low, high in zip(lows, highs, strict=True)]
    build.watch(None, f"{{*map(type, {path})}}", {tuple})
    build.watch(None, f"{{*map(len, {path})}}", {count})
    build.watch(None, f"{{type(number) for key in {path} for number in key}}", {int})
    build.watch(None, f"({' * '.join(widths)} <= {LIMIT if near else FAR})", True)
    columns = list(zip(*found, strict=True))
    ranges = [range(min(column), max(column) + 1) for column in columns]
    text, numbers = _places_of_keys(path, lows, widths), [_place_of(key, ranges) for key in found]
    if near:
        own = {key: number for number, key in enumerate(found)}
        text = _own_numbers(path, text, widths)
        numbers = [own.get(key, -1) for key in itertools.product(*ranges)]

    def part(k: int) -> Part:
        def place(build: Builder, number: Atom) -> Atom:
            above = build.emit("sub", number, build.live_in(lows[k], ranges[k].start))
            for width, span in zip(widths[k + 1 :], ranges[k + 1 :], strict=True):
                above = build.emit("mul", above, build.live_in(width, len(span)))
            return above

        low = lambda build: build.live_in(lows[k], ranges[k].start)  # noqa: E731
        return Part(low, lambda build: build.live_in(highs[k], ranges[k].stop - 1), place)

    def own_number(build: Builder, place: Atom) -> Atom:
        return build.emit("getitem" if near else "key_place", build.live_in(text, numbers), place)

    held = Columns(path, path, f"len({path})", found, list(found))
    return Table(
        tuple(map(part, range(count))),
        lambda build, place: build.emit("ge", own_number(build, place), Const(0)),
        lambda build, place: held.at(build, own_number(build, place)),
        lambda build, is_there, place: held.ended(build, is_there, lambda: own_number(build, place())),
    )


def _place_of(key: tuple[int, ...], ranges: list[range]) -> int:
    place = 0
    for number, span in zip(key, ranges, strict=True):
        place = place * len(span) + number - span.start
    return place


def _places_of_keys(path: str, lows: list[str], widths: list[str]) -> str:
    """The text of the place of each key."""
    keys = [f"key_{k}" for k in range(len(lows))]
    names = [f"({key} - low_{k})" for k, key in enumerate(keys)]
    steps = ["".join(f" * width_{j}" for j in range(k + 1, len(lows))) for k in range(len(lows))]
    place = " + ".join(name + step for name, step in zip(names, steps, strict=True))
    bound = ", ".join([*(f"low_{k}" for k in range(len(lows))), *(f"width_{k}" for k in range(len(lows)))])
    return f"[{place} for {bound} in [({', '.join([*lows, *widths])})] for {', '.join(keys)} in {path}]"


def _own_numbers(path: str, places: str, widths: list[str]) -> str:
    """The text of the number that each key has among all, at the key's place; -1 where there is none."""
    size = " * ".join(widths)
    return f"list(map(dict(zip({places}, range(len({path})))).get, range({size}), [-1] * ({size})))"


def _are_near(keys: Collection[tuple[int, ...]]) -> bool:
    return math.prod(map(_spread, zip(*keys, strict=True))) <= LIMIT


def _of_tuples(build: Builder, path: str, found: Mapping[Any, Any], count: int) -> Table:
    """Places are sums: each number of a key stands for a multiple of how many there are of those after it."""
    near = _are_near(found)
    if near or math.prod(len({*column}) for column in zip(*found, strict=True)) > LIMIT:
        return _of_places(build, path, found, count, near=near)
    build.watch(None, f"{{*map(type, {path})}}", {tuple})
    build.watch(None, f"{{*map(len, {path})}}", {count})
    known = [sorted({key[k] for key in found}) for k in range(count)]
    room = (LIMIT / math.prod(map(len, known))) ** (1 / count)
    most = [int(len(one) * room) for one in known]
    sets = [f"sorted({{key[{k}] for key in {path}}})[:{most[k]}]" for k in range(count)]
    steps = [" * ".join(f"len({one})" for one in sets[k + 1 :]) or "1" for k in range(count)]
    size = " * ".join(f"len({one})" for one in sets)
    for k in range(count):
        build.watch(None, f"{{*map(type, {sets[k]})}}", {int})
        build.watch(None, f"({sets[k]}[-1] - {sets[k]}[0] < {LIMIT})", True)
        build.watch(None, f"(len({{key[{k}] for key in {path}}}) <= {most[k]})", True)
    names = [f"key_{k}" for k in range(count)]
    keys = f"[({', '.join(names)}) {' '.join(f'for {n} in {s}' for n, s in zip(names, sets, strict=True))}]"
    order = list(itertools.product(*known))

    def part(k: int) -> Part:
        low, high, step = known[k][0], known[k][-1], len(order) // math.prod(map(len, known[: k + 1]))
        least = lambda build: build.live_in(f"{sets[k]}[0]", low)  # noqa: E731
        ranks = {number: rank * step for rank, number in enumerate(known[k])}
        span = f"range({sets[k]}[0], {sets[k]}[-1] + 1)[:{LIMIT}]"
        ranking = f"dict(zip({sets[k]}, range(0, {LIMIT}, {steps[k]})))"
        text = f"list(map({ranking}.get, {span}, [-{LIMIT * count}] * len({span})))"
        ranked = [ranks.get(number, -LIMIT * count) for number in range(low, high + 1)]

        def place(build: Builder, number: Atom) -> Atom:
            return build.emit("getitem", build.live_in(text, ranked), build.emit("sub", number, least(build)))

        return Part(least, lambda build: build.live_in(f"{sets[k]}[-1]", high), place)

    def there(build: Builder, place: Atom) -> Value:
        held = build.live_in(f"list(map({path}.__contains__, {keys}))", [key in found for key in order])
        return _and(build, build.emit("ge", place, Const(0)), lambda: build.emit("getitem", held, place))

    columns = Columns(path, keys, f"({size})", found, order)
    return Table(tuple(map(part, range(count))), there, columns.at, columns.ended)


# ---------------------------------------------------------------- of the region


def _of_shelf(shelf: structures.Shelf) -> Table | None:
    """The tables of a dict that is known item by item, as it is now."""
    keys = [*shelf.cells]
    if not keys or {*map(type, keys)} != {int} or _spread(keys) > SHORT:
        return None
    low, high = min(keys), max(keys)  # type: ignore[type-var]
    order = range(low, high + 1)

    def column(build: Builder, place: Atom) -> Value:
        first = shelf.value(build, keys[0])
        return _read(build, [shelf.value(build, key) if key in shelf.cells else first for key in order], place)

    def there(build: Builder, place: Atom) -> Value:
        held = build.emit("list", *(Const(key in shelf.cells) for key in order), hint="there")
        return build.emit("getitem", held, place)

    part = Part(
        lambda build: Const(low),
        lambda build: Const(high),
        lambda build, number: build.emit("sub", number, Const(low)) if low else number,
    )
    return Table((part,), None if len(keys) == len(order) else there, column)


def _read(build: Builder, values: list[Value], place: Atom) -> Value:
    """The value at a place among values known one by one; of tuples each item."""
    first = values[0]
    if isinstance(first, Tup):
        rows = [value.items for value in values if isinstance(value, Tup) and len(value.items) == len(first.items)]
        if len(rows) < len(values):
            raise build.refuse("mixed-kinds", "a dict holds tuples and other values")
        return Tup(tuple(_read(build, [row[k] for row in rows], place) for k in range(len(first.items))))
    if isinstance(first, structures.Shelf) and first.kind == "list":
        rows = [value for value in values if isinstance(value, structures.Shelf) and value.kind == "list"]
        items = [Tup(tuple(row.values(build))) for row in rows]
        if len(items) == len(values) and all(row.cells.keys() == first.cells.keys() for row in rows):
            row = _read(build, [*items], place)
            assert isinstance(row, Tup)
            return Listed(row)
    if not all(isinstance(value, Const | Var) for value in values):
        raise build.refuse("unsupported-value", "a dict of lists or functions is read at a place of the data")
    return build.emit("getitem", build.emit("list", *map(build.atom, values), hint="table"), place)
