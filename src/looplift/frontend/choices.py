"""An item of a list of modules or functions at a place that differs by iteration: each is taken where it is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass
from looplift.frontend import calls, expressions, rows
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Atom, Const, Require

MAX_CHOICES = 16
"""With more items than this, taking each of them for all iterations costs more than it gains."""


@dataclass(eq=False)
class Choice(Structure):
    """``experts[key]``, where ``key`` differs by iteration.

    experts[key](x)     experts[0](x) if key == 0 else experts[1](x) if key == 1 else ...
    """

    path: str
    items: list[Value]
    key: Atom

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"an item of '{self.path}' that differs by iteration"

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return self._each(build, lambda item: calls.call_value(build, item, args, kwargs))

    def attribute(self, build: Builder, name: str) -> Value:
        return self._each(build, lambda item: expressions.attribute(build, item, name))

    def atom(self, build: Builder) -> Atom:
        return build.atom(self._each(build, lambda item: build.atom(item)))

    def _each(self, build: Builder, use: Callable[[Value], Value]) -> Value:
        count = len(self.items)
        if count > MAX_CHOICES:
            raise self.refusal(build, f"one of {count}, more than {MAX_CHOICES}")
        above = build.emit("ge", self.key, Const(0))
        below = build.emit("lt", self.key, Const(count))
        build.add(Require(above, f"'{self.path}' is read at a negative place", build.span))
        build.add(Require(below, f"'{self.path}' is read behind its end", build.span))

        def chain(position: int) -> Value:
            if position == count - 1:
                return use(self.items[position])
            here = build.emit("eq", self.key, Const(position))
            return expressions.conditional(build, here, lambda: use(self.items[position]), lambda: chain(position + 1))

        return chain(0)


def at(build: Builder, path: str, items: list[Value], key: Atom) -> Choice:
    """``experts[key]`` of a list, which takes integers alone."""
    return Choice(path, items, build.emit("as_place", key, hint="place"))


def under_words(build: Builder, path: str, items: Any, key: Value) -> Choice | None:
    """``heads[kind]`` of a dict of modules or functions, where ``kind`` is a text in a record of the caller."""
    if (place := _place_of(build, items, key)) is None:
        return None
    return Choice(path, list(items.values()), place)


def holds_word(build: Builder, items: Any, key: Value) -> Atom | None:
    """``kind in heads`` of the same."""
    place = _place_of(build, items, key)
    return None if place is None else build.emit("ge", place, Const(0))


def _place_of(build: Builder, items: Any, key: Value) -> Atom | None:
    """Where among the keys of a dict a text in a record of the caller stands; -1 where it is none of them."""
    if not isinstance(items, dict) or not isinstance(key, rows.Record):
        return None
    if not {*map(type, key.samples)} <= {str, type(None)}:
        return None
    places = {word: place for place, word in enumerate(items)}
    text = repr(places).replace("{", "{{").replace("}", "}}") + ".get(row{}, -1)"
    return build.atom(key.derived(build, text, lambda word: places.get(word, -1)))
