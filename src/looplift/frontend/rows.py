"""Lists of records and dicts of the caller, read as columns."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from looplift.base.classes import is_called_object
from looplift.base.data import dataclass
from looplift.base.declared import Read
from looplift.frontend import calls, expressions, iteration, reading
from looplift.frontend.scope import Builder, Structure, Tup, Value
from looplift.ir.grammar import Atom, Const, Range

# ---------------------------------------------------------------- lists of the caller


@dataclass(eq=False)
class Record(Structure):
    """One record of a list: ``pairs[i]``, ``queries[i]['scores']``; a field of it is an item of a column.

    ``path`` leads to the list, ``suffix`` from a record to this part of it; ``samples`` are all records' parts.
    """

    path: str
    suffix: str
    samples: list[Any]
    is_itself = False

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"an item of '{self.path}', a {type(self.samples[0]).__name__},"

    @property
    def everything(self) -> str:
        """All records, one after the other."""
        return self.path

    def attribute(self, build: Builder, name: str) -> Value:
        getter = expressions.getter_of(build, kind, name) if (kind := self._class()) is not None else None
        if getter is not None:
            self._watch(build, name)
            return calls.inline(build, Const(getter, f"{self.path}.{name}"), getter, [self], {})
        for sample in self.samples:
            expressions.read_attribute(build, sample, f"an item of {self.path}", name)
        self._watch(build, name)
        return self.part(build, f".{name}", lambda sample: getattr(sample, name))

    def _watch(self, build: Builder, name: str) -> None:
        """No code runs where the attribute is read."""
        column = f"[row{self.suffix} for row in {self.everything}]" if self.suffix else self.everything
        reading.watch_each(build, self.samples, column, name)

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        kind = self._class()
        function = None if kind is None else inspect.getattr_static(kind, name, None)
        if kind is None or not isinstance(function, types.FunctionType) or expressions.reads_its_own_way(kind):
            return super().method(build, name, args, kwargs)
        self._watch(build, name)
        build.watch(kind, f".{name}", function)
        # an attribute of an object has precedence over a method
        build.watch(
            None, f"{{getattr(row{self.suffix}.{name}, '__func__', None) for row in {self.everything}}}", {function}
        )
        return calls.inline(build, Const(function, f"{self.path}.{name}"), function, [self, *args], kwargs)

    def _class(self) -> type | None:
        """The class of all records, which is guarded."""
        kinds = {*map(type, self.samples)}
        return kinds.pop() if len(kinds) == 1 else None

    def item(self, build: Builder, key: Value) -> Value:
        from looplift.frontend.structures import key_of

        known = key_of(key)
        if not isinstance(known, str | int):
            raise self.refusal(build, "subscripted by something that is not known before the loop runs")
        return self._at(build, known)

    def _at(self, build: Builder, key: str | int) -> Value:
        try:
            return self.part(build, f"[{key!r}]", lambda sample: sample[key])
        except (KeyError, IndexError, TypeError):
            raise build.refuse("requirement", f"not every item of '{self.path}' has {key!r}") from None

    def part(self, build: Builder, suffix: str, read: Callable[[Any], Any]) -> Value:
        """What ``suffix`` reads of the record, and ``read`` of a sample."""
        raise NotImplementedError

    def derived(self, build: Builder, text: str, read: Callable[[Any], Any]) -> Value:
        """What is computed of all records beforehand: ``text`` of ``row``, with a suffix to be put in."""
        raise NotImplementedError

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        places = self._places(build, "unpacked")
        if count is not None and len(places) != count:
            raise build.refuse("requirement", f"{len(places)} values for {count} names")
        return tuple(self._at(build, place) for place in places)

    def _places(self, build: Builder, how: str) -> range:
        """The places of the items of all records, which are tuples of one length."""
        lengths = {len(sample) if isinstance(sample, tuple) else -1 for sample in self.samples}
        found = lengths.pop()
        if lengths or found < 0:
            raise self.refusal(build, f"{how}, and not all are tuples of one length")
        build.watch(None, f"set([len(row{self.suffix}) for row in {self.everything}])", {found})
        return range(found)

    def sliced(self, build: Builder, part: slice) -> Value:
        places = self._places(build, "sliced")
        try:
            chosen = places[part]
        except (TypeError, ValueError) as error:
            raise build.refuse("requirement", f"a slice that raises: {error}") from None
        return Tup(tuple(self._at(build, place) for place in chosen))

    def length(self, build: Builder) -> Atom:
        return build.atom(self.derived(build, "len(row{})", len))

    def contains(self, build: Builder, key: Value) -> Atom:
        from looplift.frontend.structures import key_of

        known = key_of(key)
        if known is None:
            raise self.refusal(build, "searched for something that is not known before the loop runs")
        return build.atom(self.derived(build, f"{known!r} in row{{}}", lambda sample: known in sample))

    def compared(self, build: Builder, name: str, other: Const) -> Atom:
        """A comparison with a constant, made for all records beforehand."""
        signs = {"eq": "==", "ne": "!=", "is_": "is", "is_not": "is not"}
        if name not in signs:
            raise self.refusal(build, "compared by something else than '==' and 'is'")
        sign = signs[name]
        test = expressions.fold
        return build.atom(
            self.derived(build, f"row{{}} {sign} {other.value!r}", lambda sample: test(name, sample, other.value))
        )


@dataclass(eq=False)
class Row(Record):
    """A record of a list; ``whole`` is the record itself, ``index`` its place."""

    index: Atom
    whole: Atom

    def atom(self, build: Builder) -> Atom:
        return self.whole

    def part(self, build: Builder, suffix: str, read: Callable[[Any], Any]) -> Value:
        return column_item(build, self.path, self.suffix + suffix, list(map(read, self.samples)), self.index)

    def item(self, build: Builder, key: Value) -> Value:
        from looplift.frontend.structures import key_of

        listed = self._listed(build) if key_of(key) is None else None
        return super().item(build, key) if listed is None else listed.item(build, key)

    def iterated(self, build: Builder) -> Any:
        listed = self._listed(build)
        return super().iterated(build) if listed is None else listed.iterated(build)

    def _listed(self, build: Builder) -> Structure | None:
        """A tuple of numbers as a list of them."""
        from looplift.frontend import nested

        read = lambda build, lists: build.emit("iter_item", lists, self.index, hint="item")  # noqa: E731
        found = nested.list_at(build, f"[row{self.suffix} for row in {self.path}]", self.samples, read)
        return found if isinstance(found, nested.Frozen) else None

    def derived(self, build: Builder, text: str, read: Callable[[Any], Any]) -> Value:
        found = list(map(read, self.samples))
        column = build.live_in(f"[{text.format(self.suffix)} for row in {self.path}]", found)
        return build.emit("iter_item", column, self.index, hint="item")


RECORDS = (dict, tuple)


def is_record(value: Any) -> bool:
    """Whether a value has named or numbered parts and is neither a number nor a container that is iterated."""
    from looplift.frontend.scope import is_static

    if isinstance(value, RECORDS):
        return type(value) is not dict or all(isinstance(key, str | int) for key in value)
    known = type(value).__module__.partition(".")[0] in ("builtins", "torch", "numpy", "collections")
    return not (known or is_static(value) or is_called_object(value) or isinstance(value, list))


def column_item(build: Builder, path: str, suffix: str, samples: list[Any], index: Atom) -> Value:
    """Item ``index`` of the column that ``suffix`` reads from the records at ``path``."""
    column = f"[row{suffix} for row in {path}]" if suffix else path
    kinds = set(map(type, samples))
    words = kinds == {str} or (kinds <= {str, types.NoneType} and types.NoneType in kinds)
    if words or (samples and len(kinds) == 1 and is_record(samples[0])):
        rows = f"[row{suffix} for row in {path}]"
        build.reads.append(Read(rows if suffix else path, "", tuple(kinds), each=True))
        ref = build.live_in(column, samples)
        return Row(path, suffix, samples, index, build.emit("iter_item", ref, index, hint="item"))
    from looplift.frontend import nested

    read = lambda build, lists: build.emit("iter_item", lists, index, hint="item")  # noqa: E731
    if (found := nested.list_at(build, column, samples, read)) is not None:
        return found
    return build.emit("iter_item", build.live_in(column, samples), index, hint="item")


def is_list_of_rows(found: Any) -> bool:
    """Whether a value is a list of records, all of one class."""
    return bool(found) and len({*map(type, found)}) == 1 and is_record(found[0])


def rows_of(build: Builder, value: Value) -> tuple[str, list[Any]] | None:
    """Path and items of a list of records of the caller, or None."""
    path = build.param_path(value)
    found = build.param_values[path] if path is not None else None
    if path is None or not isinstance(found, list | tuple) or not is_list_of_rows(found):
        return None
    return path, list(found)


def item_of(build: Builder, owner: Atom, index: Atom) -> Value:
    """An item of a sequence: a row where it is a list of records."""
    found = rows_of(build, owner)
    if found is None and isinstance(index, Const) and (path := build.param_path(owner)) is not None:
        items = build.param_values[path]
        in_place = type(items) in (list, tuple) and type(index.value) is int and -len(items) <= index.value < len(items)
        if in_place and not _is_table(items):
            return build.live_in(f"{path}[{index.value}]", items[index.value])
    if found is None:
        path = build.param_path(owner)
        read = lambda build, lists: build.emit("iter_item", lists, index, hint="item")  # noqa: E731
        listed = list_of_param(build, path, read) if path is not None else None
        return build.emit("iter_item", owner, index, hint="item") if listed is None else listed
    path, samples = found
    return column_item(build, path, "", samples, index)


def list_of_param(build: Builder, path: str, read: Callable[[Builder, Atom], Atom]) -> Value | None:
    """One list of a list of lists of records of the caller, or one of a list of sets."""
    from looplift.frontend import nested

    found = build.param_values[path]
    return nested.list_at(build, path, found, read) if type(found) is list and found else None


def records_under(build: Builder, path: str, key: Atom) -> Value | None:
    """``edges[v]``, a list of records, where both are known when the region begins."""
    place, found = build.param_path(key), build.param_values[path]
    known = build.param_values[place] if place is not None else None
    if place is None or type(found) not in (list, dict) or type(known) not in (int, str):
        return None
    try:
        item = found[known]
    except LookupError:
        return None
    is_listed = type(item) is list and is_list_of_rows(item)
    return build.live_in(f"{path}[{place}]", item) if is_listed else None


def _is_table(items: Any) -> bool:
    """Whether a list holds numbers, or lists, of one kind: kernels may store into it, so items are read in the loop."""
    return type(items) is list and len({*map(type, items)}) == 1 and isinstance(items[0], int | float | list)


# ---------------------------------------------------------------- dicts of the caller


@dataclass(eq=False)
class DictView(Structure):
    """``d``, ``d.keys()``, ``d.values()`` or ``d.items()`` of a dict of the caller: lists that are made beforehand."""

    path: str
    kind: str
    samples: dict[Any, Any]

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"'{self.path}.{self.kind}()'"

    def iterated(self, build: Builder) -> iteration.Source:
        keys, values = f"list({self.path})", f"list({self.path}.values())"
        owner = build.live_in(keys, list(self.samples))
        count = build.emit("iter_len", owner, hint="n")

        def item(build: Builder, index: Atom) -> Value:
            found: list[Value] = []
            if self.kind != "values":
                found.append(column_item(build, keys, "", list(self.samples), index))
            if self.kind != "keys":
                build.live_in(values, list(self.samples.values()))
                found.append(column_item(build, values, "", list(self.samples.values()), index))
            return found[0] if len(found) == 1 else Tup(tuple(found))

        return iteration.Source(Range(Const(0), count, Const(1), owner), item, (owner,))

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", build.live_in(f"list({self.path})", list(self.samples)))

    def contains(self, build: Builder, key: Value) -> Atom:
        if self.kind != "keys":
            raise self.refusal(build, "searched by 'in'")
        return build.emit("in_", build.atom(key), build.params[self.path])


def dict_view(build: Builder, value: Value, kind: str) -> DictView | None:
    """A view of a dict of the caller; None if the value is no such dict."""
    path = build.param_path(value)
    found = build.param_values[path] if path is not None else None
    if path is None or type(found) is not dict:
        return None
    return DictView(path, kind, found)
