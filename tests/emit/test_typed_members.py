"""Members of enumerations in typed programs: as values, in tuples, as keys, from the caller and back to him."""

import heapq
from collections import deque
from dataclasses import dataclass
from enum import Enum, IntEnum

import pytest
from tests.emit.container_programs import assert_equal, runs_alike
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]


class Kind(Enum):
    ARRIVAL = "in"
    DEPARTURE = "out"
    LATE = "late"
    OTHER = "out"


class Odd(Enum):
    FIRST = 1
    SECOND = 2

    def __eq__(self, other):
        return True

    __hash__ = None


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Customer:
    ident: int
    time: float
    start: float = -1.0
    kind: Kind = Kind.ARRIVAL


def events(day):
    heap, number = [], 0
    for k, (time, service) in enumerate(day):
        heapq.heappush(heap, (time, number, Kind.ARRIVAL, Customer(k, time), service))
        number += 1
    free, queue, waits = 1, deque(), []
    while heap:
        now, _, kind, customer, service = heapq.heappop(heap)
        if kind is Kind.ARRIVAL:
            queue.append((customer, service))
        elif kind == Kind.OTHER:
            free += 1
            waits.append(customer.start - customer.time)
        if free and queue:
            customer, service = queue.popleft()
            customer.start, customer.kind = now, Kind.LATE if now > customer.time else Kind.ARRIVAL
            free -= 1
            heapq.heappush(heap, (now + service, number, Kind.DEPARTURE, customer, service))
            number += 1
    return waits


def told(customers):
    found = []
    for one in customers:
        one.kind = Kind.LATE if one.time > 2 else one.kind
        found.append((one.kind, one.kind.name, one.kind.value, one.kind in (Kind.LATE, Kind.DEPARTURE)))
    return found


def counted(kinds):
    counts, seen, last = {}, set(), None
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
        if kind is not Kind.LATE and kind not in seen and kind != last:
            seen.add(kind)
        last = kind
    return counts, len(seen), last, counts.get(Kind.DEPARTURE, 0)


def perhaps(kinds):
    found = []
    for kind in kinds:
        if kind is None:
            found.append(Kind.OTHER)
        elif kind is Kind.ARRIVAL:
            found.append(None)
    return found


def in_order(kinds):
    heap = []
    for kind in kinds:
        heapq.heappush(heap, (len(heap) % 2, kind))
    return heap


def of_odd(kinds):
    total = 0
    for kind in kinds:
        total = total * 2 + (kind == Odd.FIRST)
    return total


def of_levels(levels):
    total = 0
    for level in levels:
        total = total * 3 + level if level is Level.HIGH else total + 1
    return total, [Level.LOW, *levels]


def test_events(first):
    runs_alike(events, [(0.5, 1.0), (0.7, 0.1), (3.0, 2.0), (3.0, 0.5)])


def test_members_of_objects(first):
    runs_alike(told, [Customer(0, 1.0), Customer(1, 3.0, kind=Kind.DEPARTURE), Customer(2, 0.5, kind=Kind.OTHER)])


def test_members_as_keys(first):
    runs_alike(counted, [Kind.LATE, Kind.ARRIVAL, Kind.LATE, Kind.OTHER, Kind.DEPARTURE, Kind.ARRIVAL])


def test_members_or_none(first):
    runs_alike(perhaps, [Kind.LATE, None, Kind.ARRIVAL])


def test_members_have_no_order(first):
    runs_alike(in_order, [Kind.LATE, Kind.ARRIVAL])
    runs_alike(in_order, [Kind.LATE, Kind.LATE, Kind.ARRIVAL, Kind.DEPARTURE], native=False)


def test_enumerations_with_ways_of_their_own(first):
    runs_alike(of_odd, [*Odd], native=None)
    runs_alike(of_levels, [*Level], native=None)


def numbered(kinds):
    total = 0
    for kind in kinds:
        total = total * 3 + (1 if kind is Signal.GO else 2 if kind.value > 5 else 0)
    return total


class Signal(Enum):
    GO = 1
    STOP = 7


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_an_enumeration_that_becomes_another_one(backend, first, monkeypatch):
    lifted = lift(numbered, backend=backend, verify="off")
    for _ in range(2):
        assert lifted([*Signal]) == numbered([*Signal])
    monkeypatch.setitem(globals(), "Signal", Enum("Signal", {"STOP": 3, "GO": 9}))
    assert lifted([*Signal]) == numbered([*Signal]) == 1
    assert_equal(lifted([Kind.ARRIVAL] * 0), 0)
