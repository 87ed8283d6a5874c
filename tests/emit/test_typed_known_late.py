"""Places, keys and values whose types a program finds out late, as they come out of dicts that later lines fill."""

import pytest
import torch
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import assert_same, first, outcome

from looplift import lift

__all__ = ["first"]


def grouped(labels):
    found = {}
    for k, label in enumerate(labels):
        if label not in found:
            found[label] = []
        found[label].append(k)
    return found


def means_of_groups(x, labels):
    out = {}
    for label, members in grouped(labels).items():
        rows = x[members]
        out[label] = torch.cat([rows - rows.mean(0), rows[:, :2]], dim=1).max(dim=0).values
    return [out[label] for label in out]


def centres(x, cells):
    out = torch.zeros(len(x), 2)
    for (a, b), members in {(a, b): ks for (a, b), ks in grouped(cells).items()}.items():
        for k in members:
            out[k] = x[k, :2] - torch.tensor([(a + 0.5) * 2, b + 0.5])
    return out


def added_from_memory(x, names):
    memory, out = {}, []
    for k, name in enumerate(names):
        table = torch.zeros(3, x.shape[1])
        for other in memory:
            if other != name:
                table[len(other) % 3] += memory[other][0]
        out.append(table.sum(0))
        memory[name] = (x[k], k)
    return torch.stack(out)


def at_no_place(x, places):
    out = []
    for row in places:
        out.append(sum((x[k] for k in row), torch.zeros(x.shape[1])))
    for k in []:
        out.append(x[k])
    return torch.stack(out)


LABELS = [2, 0, 2, 1, 0]
CELLS = [(1, 2), (0, 0), (1, 2), (3, 1), (0, 0)]
NAMES = ["a", "bb", "a", "ccc", "bb"]
PROGRAMS = {
    "groups": (means_of_groups, lambda: LABELS), "cells": (centres, lambda: CELLS),
    "memory": (added_from_memory, lambda: NAMES), "no place": (at_no_place, lambda: [[], [1, -1], [0]]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_types_that_are_known_late(name, asks, dtype, first):
    function, others = PROGRAMS[name]
    with torch.no_grad():
        torch.set_default_dtype(dtype)
    try:
        runs_as_program(function, lambda: g(5, 3).to(dtype).requires_grad_(asks), others)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    ("name", "values"),
    [("groups", [0]), ("groups", []), ("groups", [0, 0, 7]), ("cells", [(0, 1)]), ("memory", ["a"]), ("memory", []),
     ("no place", [[]]), ("no place", [[9]]), ("no place", [[0], [0, -6]]), ("groups", [0, 1, 2, 3, 4, 5])],
)  # fmt: skip
def test_none_one_and_too_many(name, values, backend):
    function, usual = PROGRAMS[name]
    lifted = lift(function, verify="off", backend=backend)
    for others in (usual(), values, usual()):
        given = [[g(5, 3).requires_grad_(), list(others)] for _ in range(2)]
        assert_same(outcome(lifted, given[0]), outcome(function, given[1]))


def shortest(graph, start):
    distance = dict.fromkeys(graph, -1)
    parents = dict.fromkeys(graph, (start, len(graph)))
    distance[start] = 0
    queue = [start]
    while queue:
        one = queue.pop(0)
        for other in graph[one]:
            if distance[other] < 0:
                distance[other], parents[other] = distance[one] + 1, (one, -distance[one])
                queue.append(other)
    return distance, parents


def one_list_for_all(names, count):
    kept = dict.fromkeys(names, [count * 2])  # noqa: RUF024 -- all keys share it
    for k, name in enumerate(names):
        kept[name].append(k)
    kept[names[0]] = [0]
    return kept


def keys_that_call(names, count):
    return [dict.fromkeys(sorted(names), max(count, k)) for k in range(count)]


GRAPH = {"a": ["b", "c"], "b": ["a"], "c": ["d"], "d": [], "e": ["a"]}


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    ("function", "given"),
    [(shortest, lambda: (dict(GRAPH), "a")), (shortest, lambda: ({"a": []}, "a")),
     (shortest, lambda: ({"a": ["b"]}, "a")), (one_list_for_all, lambda: (["x", "y", "x"], 3)),
     (one_list_for_all, lambda: ([], 3)), (keys_that_call, lambda: (["b", "a"], 3))],
)  # fmt: skip
def test_dicts_of_keys_with_one_value(function, given, backend):
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        got, wanted = outcome(lifted, given()), outcome(function, given())
        assert_same(got, wanted)
    if function is one_list_for_all and isinstance(got[0], dict):
        assert got[0]["y"] is not got[0]["x"]


def test_what_all_keys_share_is_one_object(first):
    found = lift(shared_by_keys, verify="off")(["x", "y", "z"], 3)
    assert found["x"] is found["y"] is found["z"]
    runs_as_program(shared_by_keys, lambda: ["x", "y"], lambda: 2)


def shared_by_keys(names, count):
    kept = dict.fromkeys(names, [count])  # noqa: RUF024 -- all keys share it
    for k, name in enumerate(names):
        kept[name].append(k)
    return kept
