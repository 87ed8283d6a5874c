"""Compares the facts of a function with what the interpreter sees in every iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from running import copied

from looplift.base.compare import difference
from looplift.ir.facts import Fact, Facts, Kind, kind_of, shape_of
from looplift.ir.grammar import Function, Loop, Var
from looplift.ops.interpret import _Interpreter, arguments

NUMBERS = ("int", "float", "complex")
ASPECTS = ("kind", "shape", "loops")


def wrong_facts(
    function: Function, facts: Facts, values: Mapping[str, Any], aspects: tuple[str, ...] = ASPECTS
) -> list[str]:
    """Facts that a run with these values contradicts: one line for each aspect of each variable."""
    found: dict[tuple[Var, str], str] = {}
    seen: dict[tuple, Any] = {}
    trips: dict[Loop, int] = {}

    def watch(var: Var, value: Any) -> None:
        fact = facts.of.get(var)
        for aspect, words in () if fact is None else _contradictions(var, fact, value, seen, trips):
            if aspect in aspects:
                found.setdefault((var, aspect), f"{var} at trips {list(trips.values())}: {words}")

    _Counting(watch, trips).run(function, values)
    return list(found.values())


class _Counting(_Interpreter):
    """An interpreter that knows in which iteration of each loop it is."""

    def __init__(self, watch: Callable[[Var, Any], None], trips: dict[Loop, int]):
        super().__init__(watch)
        self.trips = trips

    def run(self, function: Function, values: Mapping[str, Any]) -> None:
        for var, value in arguments(function, values).items():
            self.bind(var, value)
        self.block(function.body)

    def enters(self, loop: Loop, trips: Iterator[int] | None, state: list[Any]) -> bool:
        self.trips[loop] = self.trips.get(loop, -1) + 1
        return super().enters(loop, trips, state)

    def leaves(self, loop: Loop, state: list[Any]) -> None:
        self.trips.pop(loop, None)
        super().leaves(loop, state)


def _contradictions(
    var: Var, fact: Fact, value: Any, seen: dict[tuple, Any], trips: dict[Loop, int]
) -> Iterator[tuple[str, str]]:
    kind = kind_of(value)
    if not agrees(fact.kind, kind):
        yield "kind", f"is {kind}, known as {fact.kind}"
    elif fact.fixed and kind.family in ("tensor", "array") and shape_of(value) != fact.shape:
        yield "shape", f"has shape {shape_of(value)}, known as always {fact.shape}"
    if not kind.is_number and not kind.is_array:
        return
    plain = value.detach() if isinstance(value, torch.Tensor) else value
    place = (var, tuple(trips.get(loop) for loop in fact.loops))
    if place not in seen:
        seen[place] = copied(plain)
    elif difference(plain, seen[place], exact=True) is not None:
        yield "loops", f"changes, known to vary with {[loop.index for loop in fact.loops]} only"


def agrees(known: Kind, kind: Kind) -> bool:
    """Whether a value of ``kind`` may be known as ``known``: it is the same, or a number that was joined to more."""
    if known == kind:
        return True
    if known.family == kind.family == "list":
        return not kind.items or not known.items or agrees(known.items[0], kind.items[0])
    if known.family == kind.family == "tuple" and len(known.items) == len(kind.items):
        return all(map(agrees, known.items, kind.items))
    if known.family == "bool" and kind.is_array and kind.rank == 0:
        return "bool" in str(kind.dtype)
    if kind.family not in NUMBERS:
        return False
    return known.is_array or (known.family in NUMBERS and NUMBERS.index(kind.family) <= NUMBERS.index(known.family))
