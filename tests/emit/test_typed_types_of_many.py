"""Types of what a program is given are taken of all items of a place together."""

from __future__ import annotations

import collections
import sys
from collections import namedtuple

import numpy as np
import pytest

from looplift import lift
from looplift.base.errors import NotLiftable
from looplift.emit import typed_values
from looplift.emit.typed_types import FLOAT, INT, MIXED, TEXT, Box, Joins, Maybe, Tup
from looplift.emit.typed_values import type_of

Edge = namedtuple("Edge", "start weight")


def calls_of(module, function):
    """How many functions of a module are called meanwhile."""
    count = 0

    def watch(frame, event, _):
        nonlocal count
        is_function = not frame.f_code.co_name.startswith("<")
        count += event == "call" and is_function and frame.f_code.co_filename == module.__file__

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def rows(n):
    return [{"name": f"n{k}", "label": k % 3, "box": [float(k), k + 0.5]} for k in range(n)]


def table(n):
    return {f"n{k}": [{"box": [float(k), 2.0]} for _ in range(k % 4)] for k in range(n)}


def test_as_many_calls_for_many_items_as_for_few():
    def taken(n):
        return lambda: type_of(table(n), Joins(), {})

    assert calls_of(typed_values, taken(1000)) == calls_of(typed_values, taken(10))


def test_items_of_one_place_share_a_type():
    joins, seen = Joins(), {}
    first, second = [1], [2.5]
    found = type_of([first, second, []], joins, seen)
    assert seen[id(first)].find() is seen[id(second)].find() is found.find().cells[0].find()
    assert found.find().cells[0].find().cells == [MIXED]


def test_an_object_at_two_places_has_one_type():
    joins, seen = Joins(), {}
    shared = [1]
    pair = type_of(([[2], shared], {"a": shared}), joins, seen)
    listed, named = pair.items
    assert listed.find().cells[0].find() is named.find().cells[1].find()


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ([1, None, 2], Maybe(INT)),
        ([(1, "a"), (2.0, "b")], Tup((MIXED, TEXT))),
        (collections.deque([1.0]), FLOAT),
    ],
)
def test_types_of_items(value, cell):
    assert type_of(value, Joins(), {}).find().cells == [cell]


@pytest.mark.parametrize("value", [[[1], {2}], [(1,), (1, 2)], [[1], 2], [1, "a"]])
def test_items_of_several_kinds(value):
    with pytest.raises(NotLiftable) as refusal:
        type_of(value, Joins(), {})
    assert refusal.value.code == "mixed-kinds"


def test_a_list_that_is_met_again_and_again_is_looked_into_once():
    row = [float(k) for k in range(1000)]
    found = type_of([row] * 1000, Joins(), {})
    assert isinstance(found, Box) and found.find().cells[0].find().cells == [FLOAT]


def matched(found, truths, wanted):
    counts = {}
    for c in range(wanted):
        boxes = {name: [one["box"] for one in every if one["label"] == c] for name, every in truths.items()}
        hits = 0
        for one in found:
            if one["label"] == c:
                for box in boxes[one["name"]]:
                    if abs(box[0] - one["box"][0]) < 2.0:
                        hits += 1
        counts[c] = hits
    return counts


def marked(rows, log):
    for row in rows:
        row["box"].append(float(len(log)))
        log.append(row["label"])
    return len(log)


def weights(edges):
    total = collections.defaultdict(float)
    for edge in edges:
        total[edge.start] += edge.weight
    return dict(total)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_dicts_in_lists_and_dicts(backend):
    truths = {f"n{k}": [{"label": k % 3, "box": [k + 0.25, 1.0]}] for k in range(40)}
    lifted = lift(matched, backend=backend)
    for _ in range(3):
        assert lifted(rows(40), truths, 3) == matched(rows(40), truths, 3)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_what_dicts_share_is_changed_in_all_of_them(backend):
    def made():
        given = rows(6)
        given[4]["box"] = given[1]["box"]
        return given, []

    lifted = lift(marked, backend=backend)
    for _ in range(3):
        (ours, log), (theirs, other) = made(), made()
        assert lifted(ours, log) == marked(theirs, other)
        assert (ours, log) == (theirs, other) and ours[4]["box"] is ours[1]["box"]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_named_tuples_with_numbers_of_several_kinds(backend):
    edges = [Edge("a", 1), Edge("b", 2.5), Edge("a", 0.5), Edge("c", 3)]
    lifted = lift(weights, backend=backend)
    for _ in range(3):
        found = lifted(edges)
        assert found == weights(edges) and [*map(type, found.values())] == [float] * 3


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_arrays_of_several_kinds_at_one_place(backend):
    def sums(arrays):
        found = []
        for one in arrays:
            found.append(float(one[0]))
        return found

    arrays = [np.arange(3.0), np.arange(3), np.arange(3, dtype=np.float32)]
    lifted = lift(sums, backend=backend)
    for _ in range(3):
        assert lifted(arrays) == sums(arrays)
