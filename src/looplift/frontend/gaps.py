"""Lists of the caller that hold tensors or numbers of one type, and None in places, in; values that may be None out.

    for z in zs:              there = [row is not None for row in zs]
        if z is None: ...     made = [some if row is None else row for some in [next(zs not None)] for row in zs]
                              z = made[k] if there[k] else None

Lists of such lists likewise. What they hold is read whenever the region begins.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch

from looplift.base.data import dataclass
from looplift.frontend import evident, iteration
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Atom, Block, Const, Group, If, Let, Phi, Range, Slice, Var

Reader = Callable[[Builder, Atom], Atom]
KNOWN = frozenset((torch.Tensor, int, float, bool))


def has_gaps(samples: Sequence[Any]) -> bool:
    """Whether items are of one known type, but for those that are None."""
    kinds = {*map(type, samples)}
    return types.NoneType in kinds and len(kinds) == 2 and kinds - {types.NoneType} <= KNOWN


def is_some(build: Builder, value: Value) -> bool:
    """Whether a value is an item of a list of the caller, or of a list of its lists, in which nothing is None now: a
    variant of the code is for such lists alone."""
    made = {s.var: s.op for block in build.blocks for s in block if isinstance(s, Let)}
    path, depth = build.param_path(value), 0
    while path is None and depth < 2:
        op = made.get(value)  # type: ignore[arg-type]
        if op is None or op.name not in ("iter_item", "getitem") or isinstance(op.args[1], Slice | Group):
            return False
        value, depth = cast(Atom, op.args[0]), depth + 1
        path = build.param_path(value)
    found: Any = build.param_values.get(path) if path is not None else None
    if depth == 0 or build.changes or type(found) is not list:
        return False
    rows = found if depth == 2 else [found]
    if {*map(type, rows)} != {list}:
        return False
    kinds = {type(item) for row in rows for item in row}
    if len(kinds) != 1 or not kinds <= KNOWN:
        return False
    build.beforehand = True
    text = f"{{*map(type, {path})}}" if depth == 1 else f"{{type(row) for rows in {path} for row in rows}}"
    build.watch(None, text, kinds)
    return True


def _filled(samples: Sequence[Any], first: Any) -> list[Any]:
    return [first if item is None else item for item in samples]


def _first(samples: Sequence[Any]) -> Any:
    return next(item for item in samples if item is not None)


def item_at(build: Builder, path: str, samples: Sequence[Any], read: Reader) -> Value:
    """One item of a list with gaps; ``read`` takes it out of any list of that length."""
    build.beforehand = True
    build.watch(None, f"{{*map(type, {path})}}", {*map(type, samples)})
    there = build.live_in(f"[row is not None for row in {path}]", [item is not None for item in samples])
    some = f"next((row for row in {path} if row is not None), None)"
    column = f"[some if row is None else row for some in [{some}] for row in {path}]"
    made = build.live_in(column, _filled(samples, _first(samples)))
    return _maybe(build, read(build, there), read(build, made))


def _maybe(build: Builder, there: Atom, value: Atom) -> Var:
    var = build.fresh("item")
    build.add(If(there, Block(()), Block(()), (Phi(var, value, Const(None)),), build.span))
    return var


def row_at(build: Builder, path: str, samples: Sequence[list[Any]], read: Reader) -> Value:
    """One list of a list of lists with gaps."""
    flat = [item for sample in samples for item in sample]
    build.beforehand = True
    build.watch(None, f"{{*map(type, {path})}}", {list})
    build.watch(None, f"{{type(row) for rows in {path} for row in rows}}", {*map(type, flat)})
    return Gapped(path, samples, read)


@dataclass(eq=False)
class Row(Structure):
    """One list of a list of lists of the caller; ``read`` takes it out of any list of lists of that form."""

    path: str
    samples: Sequence[list[Any]]
    read: Reader
    is_itself = False

    def numbered(self, build: Builder) -> Atom:
        """A list as long as this one."""
        raise NotImplementedError

    def entry(self, build: Builder, name: str, place: Atom) -> Value:
        """The item at a place, by the operation of a name."""
        raise NotImplementedError

    def length(self, build: Builder) -> Atom:
        return build.emit("builtin.len", self.numbered(build))

    def iterated(self, build: Builder) -> iteration.Source:
        whole = self.numbered(build)
        domain = Range(Const(0), build.emit("iter_len", whole, hint="n"), Const(1), whole)
        return iteration.Source(domain, lambda build, index: self.entry(build, "iter_item", index), (whole,))

    def item(self, build: Builder, key: Value) -> Value:
        place = build.atom(key)
        if not evident.is_integer(build, place):
            raise self.refusal(build, "subscripted by something that is not surely an integer of Python's")
        return self.entry(build, "getitem", place)


@dataclass(eq=False)
class Gapped(Row):
    """One list with gaps of a list of such lists."""

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"an item of '{self.path}', a list with None in places,"

    def _flags(self, build: Builder) -> Atom:
        known = [[item is not None for item in sample] for sample in self.samples]
        return build.live_in(f"[[row is not None for row in rows] for rows in {self.path}]", known)

    def numbered(self, build: Builder) -> Atom:
        return self.read(build, self._flags(build))

    def _made(self, build: Builder) -> Atom:
        first = _first([item for sample in self.samples for item in sample])
        some = f"next((row for rows in {self.path} for row in rows if row is not None), None)"
        lists = [_filled(sample, first) for sample in self.samples]
        column = f"[[some if row is None else row for row in rows] for some in [{some}] for rows in {self.path}]"
        build.alike[column] = self._flags(build)
        return self.read(build, build.live_in(column, lists))

    def entry(self, build: Builder, name: str, place: Atom) -> Value:
        there = build.emit(name, self.numbered(build), place, hint="there")
        return _maybe(build, there, build.emit(name, self._made(build), place, hint="item"))
