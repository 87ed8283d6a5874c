"""Dicts of lists, lists of lists of records, sets and tuples of the caller. The loop is the oracle."""

from __future__ import annotations

import collections
import random

import pytest
import torch
from tests.frontend.oracle import check, outcome

from looplift import lift
from looplift.base.compare import difference

N = 12
X = torch.randn(N, 4, generator=torch.Generator().manual_seed(0))
R = random.Random(0)
LISTS = [[R.randrange(N) for _ in range(R.randint(0, 4))] for _ in range(N)]
KEYED = dict(enumerate(LISTS))
EDGES = [[(u, 0.5 + u / 7) for u in row] for row in LISTS]
KINDS = [[(u, ("likes", "hates", None)[u % 3]) for u in row] for row in LISTS]


class Edge:
    def __init__(self, to, weight):
        self.to, self.weight = to, weight


def summed(x, near):
    out = []
    for v in range(len(x)):
        total = torch.zeros(4)
        for u in near[v]:
            total = total + x[u] / (len(near[u]) + 1)
        out.append(total)
    return torch.stack(out)


def weighted(x, edges):
    out = []
    for v in range(len(x)):
        total = x[v] * len(edges[v])
        for u, weight in edges[v]:
            total = total + weight * x[u]
        out.append(total)
    return torch.stack(out)


def of_each(x, edges):
    total = torch.zeros(4)
    for v, row in enumerate(edges):
        for k, edge in enumerate(row):
            total = total + (x[edge[0]] - x[v]) * edge[1] * k
    return total


def by_word(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        for u, kind in edges[v]:
            if kind == "likes":
                total = total + x[u]
            elif kind is None:
                total = total - x[v]
    return total


def by_name(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        for edge in edges[v]:
            total = total + x[edge["to"]] * edge["weight"]
    return total


def by_attribute(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        for edge in edges[v]:
            total = total + x[edge.to] * edge.weight
    return total


def first_of(x, edges):
    out = []
    for v in range(len(x)):
        if len(edges[v]) > 0:
            out.append(x[edges[v][0][0]] * edges[v][-1][1])
    return torch.stack(out)


def or_none(x, near):
    out = []
    for v in range(len(x)):
        total = torch.zeros(4)
        for u in near.get(v, []):
            total = total + x[u]
        out.append(total)
    return torch.stack(out)


def under_pairs(x, near):
    total = torch.zeros(4)
    for a in range(4):
        for b in range(4):
            for u in near.get((a, b), ()):
                total = total + x[u]
    return total


def of_graphs(graphs, weight):
    out = []
    for points, edges in graphs:
        total = torch.zeros(4)
        for a, b, scale in edges:
            total = total + scale * (points[a] - points[b])
        out.append(weight @ total)
    return torch.stack(out)


GRAPHS = [(X + k, [(a, (a + k) % N, 0.5 * a) for a in range(k % 4)]) for k in range(6)]
SOME = {k: row for k, row in KEYED.items() if k % 3}
LIFTED = [
    (summed, (X, KEYED)), (summed, (X, collections.defaultdict(list, KEYED))), (weighted, (X, EDGES)),
    (summed, (X, {v: tuple(row) for v, row in KEYED.items()})), (summed, (X, list(map(set, LISTS)))),
    (summed, (X, {v: set(row) for v, row in KEYED.items()})), (summed, (X, {v: [v, 1, 2] for v in range(N)})),
    (weighted, (X, dict(enumerate(EDGES)))), (weighted, (X, [list(map(list, row)) for row in EDGES])),
    (of_each, (X, EDGES)), (by_word, (X, KINDS)), (of_graphs, (GRAPHS, torch.eye(4))), (first_of, (X, EDGES)),
    (by_name, (X, [[{"to": u, "weight": w} for u, w in row] for row in EDGES])),
    (by_attribute, (X, [[Edge(u, w) for u, w in row] for row in EDGES])),
    (or_none, (X, SOME)), (or_none, (X, {v: [v, 1] for v in range(0, N, 2)})),
    (or_none, (X, {v - 3: row for v, row in SOME.items()})),
    (under_pairs, (X, {(a, b): LISTS[a * 3 + b] for a in range(3) for b in range(3)})),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), LIFTED)
def test_lists_under_keys_and_records_in_lists(function, arguments):
    check(function, arguments, kept=function is weighted and type(arguments[1][0][0]) is list)


def grown(x, near):
    total = torch.zeros(4)
    for v in range(len(x)):
        near[v].append(v)
        for u in near[v]:
            total = total + x[u]
    return total


def grown_edges(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        edges[v].append((v, 1.0))
        for u, weight in edges[v]:
            total = total + x[u] * weight
    return total


def changed_edges(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        for edge in edges[v]:
            edge["weight"] += 1
            total = total + x[edge["to"]] * edge["weight"]
    return total


def handed_out(x, near):
    out = []
    for v in range(len(x)):
        out.append(near[v])
    return out


def same_list(x, near):
    count = 0
    for v in range(len(x) - 1):
        if near[v] is near[v + 1]:
            count += 1
    return count


def last_edge(x, edges):
    total = torch.zeros(4)
    for v in range(len(x)):
        for edge in edges[v]:
            total = total + x[edge[0]]
    return total, edge


def equal_rows(x, near):
    count = 0
    for v in range(len(x)):
        if near[v] == (1, 2):
            count += 1
    return count


def default_grown(x, near):
    for v in range(len(x)):
        row = near.get(v, [])
        row.append(v)
    return near


SHARED = {**{v: [v, 2] for v in range(N)}, 4: LISTS[1], 5: LISTS[1]}
KEPT = [
    (grown, (X, KEYED)), (grown, (X, SHARED)), (grown_edges, (X, EDGES)), (handed_out, (X, KEYED)),
    (changed_edges, (X, [[{"to": u, "weight": w} for u, w in row] for row in EDGES])),
    (handed_out, (X, {v: tuple(row) for v, row in KEYED.items()})), (same_list, (X, SHARED)),
    (same_list, (X, {**dict.fromkeys(range(N), (1, 2)), 3: (4,)})), (last_edge, (X, EDGES)),
    (same_list, (X, [LISTS[3]] * N)), (same_list, (X, [EDGES[3]] * N)),
    (equal_rows, (X, {v: (1, v) for v in range(N)})),
    (equal_rows, (X, {v: (1, 2)[: v % 3] for v in range(N)})), (equal_rows, (X, [{1, 2}] * N)),
    (default_grown, (X, SOME)), (summed, (X, SOME)), (summed, (X, collections.defaultdict(list, SOME))),
    (summed, (X, {v: [99][: v % 2] for v in range(N)})), (summed, (X, {v: [] for v in range(N)})),
    (summed, (X, {v: [1, 2.5, True][: v % 4] for v in range(N)})),
    (weighted, (X, [[(1, 2.0), (1, 2), (3, 1.0, 2)][: v % 4] for v in range(N)])), (weighted, (X, EDGES[:-2])),
    (first_of, (X, [[(99, 0.5)][: v % 2] for v in range(N)])),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), KEPT)
def test_what_changes_or_raises_is_the_loop_s(function, arguments):
    check(function, arguments, kept=True)


HOLDERS = [
    KEYED, {v: [v] for v in range(N)}, {v: (v,) * (v % 3) for v in range(N)}, {v: [] for v in range(N)}, SOME,
    {v: {v} for v in range(N)}, {v: [0.5][: v % 2] for v in range(N)}, {v: [True, 0][: v % 3] for v in range(N)},
    {v + 1: row for v, row in KEYED.items()}, {v - 1: row for v, row in [*KEYED.items(), (N, [])]}, LISTS, EDGES,
    {**KEYED, 3: (1, 2)}, list(map(set, LISTS)), list(map(tuple, LISTS)), [[]] * N, [*LISTS[:-1], {1}],
]  # fmt: skip
RECORDS = [
    EDGES, KINDS, [[(u, 1) for u in row] for row in LISTS], [[(u, torch.tensor(2.0)) for u in row] for row in LISTS],
    [[[u, 0.5] for u in row] for row in LISTS], LISTS, [[]] * N, [[(1, 0.5)]] * N, [[("a", 0.5)]] * N,
    [[(u, 0.5, 1)[: 2 + u % 2] for u in row] for row in LISTS], [tuple(row) for row in EDGES],
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "holders"), [(summed, HOLDERS), (weighted, RECORDS)])
def test_lists_of_other_kinds_are_noticed(function, holders, backend):
    lifted = lift(function, backend=backend, verify="off")
    for holder in [*holders, *holders[::-1]]:
        wanted, found = outcome(function, (X, holder)), outcome(lifted, (X, holder))
        assert not difference(found, wanted, magnitude=1.0), holder
