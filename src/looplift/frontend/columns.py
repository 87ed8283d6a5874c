"""What a dict of the caller holds in; lists of it in the order of its keys out, and their guards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import evident, expressions, structures
from looplift.frontend.scope import Builder, Structure, Tup, Value
from looplift.ir.facts import Kind, kind_of
from looplift.ir.grammar import Atom, Const, Group, Operand


@dataclass(frozen=True, eq=False)
class Columns:
    """What a dict holds under the keys in ``order``; ``keys`` is their text, and ``size`` that of their number."""

    path: str
    keys: str
    size: str
    found: Mapping[Any, Any]
    order: Collection[Any]

    def at(self, build: Builder, place: Atom) -> Value:
        """An item of a list, of each of several lists for a tuple."""
        first, is_ragged = next(iter(self.found.values())), are_ragged(self.found.values())
        values = [self.found.get(key, type(first)() if is_ragged else first) for key in self.order]
        text = self._filled(type(first), is_ragged)
        if is_ragged:
            return _listed(build, text, values, place)
        whole = lambda build: build.emit("getitem", build.live_in(text, values), place)  # noqa: E731
        if not isinstance(first, tuple | list):
            return whole(build)
        fields = [build.live_in(f"[row[{k}] for row in {text}]", [row[k] for row in values]) for k in range(len(first))]
        row = Tup(tuple(build.emit("getitem", column, place) for column in fields))
        return row if isinstance(first, tuple) else Listed(row, whole)

    def ended(self, build: Builder, found: Atom, place: Callable[[], Atom]) -> Value | None:
        """The same for lists, and an empty one where nothing is found: it stands after all others."""
        kind = type(next(iter(self.found.values())))
        if kind not in LISTED:
            return None
        values = [*(self.found.get(key, kind()) for key in self.order), kind()]
        last = build.live_in(self.size, len(self.order))
        at = build.atom(expressions.conditional(build, found, place, lambda: last))
        return _listed(build, f"{self._filled(kind, True)} + [{kind.__name__}()]", values, at)

    def _filled(self, kind: type, is_ragged: bool) -> str:
        """The text of all values, with one of them where there is no key, or with empty ones."""
        filler = f"{kind.__name__}()" if is_ragged else f"next(iter({self.path}.values()))"
        if self.keys == self.path:
            return f"list({self.path}.values())"
        if self.keys == f"range(len({self.path}))":
            return f"list(map({self.path}.get, {self.keys}))"
        return f"list(map({self.path}.get, {self.keys}, [{filler}] * {self.size}))"


def _listed(build: Builder, text: str, values: list[Any], place: Atom) -> Value:
    from looplift.frontend import nested

    read = lambda build, lists: build.emit("getitem", lists, place)  # noqa: E731
    found = nested.list_at(build, text, values, read)
    return read(build, build.live_in(text, values)) if found is None else found


@dataclass(eq=False)
class Listed(Structure):
    """A list of numbers under a key: its numbers are read, and nothing else may hold it.

    ``whole`` is the list itself, as an item of a list of lists, where there is such a list.
    """

    row: Tup
    whole: Callable[[Builder], Atom] | None = None
    is_itself = False
    noun = "a list that is held by a dict"

    def operand(self, build: Builder) -> Operand:
        return Group("list", tuple(map(build.atom, self.row.items)))

    def stored(self, build: Builder, into: Atom) -> Atom:
        """What is stored into an array of NumPy's, which takes the numbers."""
        return build.atom(self.row) if evident.is_array(build, into) else self.atom(build)

    def item(self, build: Builder, key: Value) -> Value:
        known = structures.key_of(key)
        if known is None and self.whole is not None:
            return build.emit("getitem", self.whole(build), build.atom(key))
        if not isinstance(known, int) or not -len(self.row.items) <= known < len(self.row.items):
            raise self.refusal(build, "read at a place that is not known before the loop runs")
        return self.row.items[known]

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        return structures.as_many(build, list(self.row.items), count)

    def length(self, build: Builder) -> Atom:
        return Const(len(self.row.items))

    def iterated(self, build: Builder) -> Any:
        from looplift.frontend import iteration

        return super().iterated(build) if self.whole is None else iteration.sequence(build, self.whole(build))


LISTED = (list, tuple, set, frozenset)


def has_one_kind(values: Any) -> bool:
    """Whether all values are numbers of one type, tuples of such, or arrays of one shape."""
    if are_ragged(values):
        return len({kind_of(list(value)) for value in values} - {Kind("list")}) == 1
    kinds = {kind_of(value) for value in values}
    if len(kinds) != 1:
        return False
    (kind,) = kinds
    if kind.is_array:
        return len({_face(value) for value in values}) == 1
    rows = kind.family in ("tuple", "list") and bool(kind.items)
    return kind.is_number or (rows and all(one.is_number for one in kind.items))


def are_ragged(values: Any) -> bool:
    """Whether values are lists, sets or tuples of several lengths; what they hold is looked at as that of lists."""
    kinds = {*map(type, values)}
    return len(kinds) == 1 and kinds <= {list, tuple, set, frozenset} and len({*map(len, values)}) > 1


def _face(array: Any) -> tuple[Any, ...]:
    """What arrays under the keys of one dict have in common."""
    return array.dtype, array.shape, getattr(array, "device", None), getattr(array, "requires_grad", False)


def watch_values(build: Builder, path: str, found: Mapping[Any, Any]) -> None:
    """Have it looked at before each run that all values are still of the kind of the first."""
    values, first = f"{path}.values()", next(iter(found.values()))
    build.watch(None, f"{{*map(type, {values})}}", {type(first)})
    if are_ragged(found.values()):
        build.watch(None, f"(len({{*map(len, {values})}}) > 1)", True)
    elif hasattr(first, "shape"):
        more = ", one.device, one.requires_grad" if hasattr(first, "requires_grad") else ""
        build.watch(None, f"len({{(one.dtype, one.shape{more}) for one in {values}}})", 1)
    elif isinstance(first, tuple | list):
        build.watch(None, f"{{*map(len, {values})}}", {len(first)})
        build.watch(None, f"{{tuple(map(type, row)) for row in {values}}}", {tuple(map(type, first))})
