"""Arrays that each iteration makes, of another length each, and writes to: messages in each graph of a list."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

LAYER = torch.nn.Linear(3, 3)
CELL = torch.nn.GRUCell(3, 3)


def sums(graphs):
    out = []
    for x, edges in graphs:
        agg = torch.zeros_like(x)
        for s, t in edges:
            agg[t] += x[s]
        out.append(torch.relu(LAYER(agg + x)).mean(0))
    return torch.stack(out)


def sums_alone(graphs):
    out = []
    for x, edges in graphs:
        agg = torch.zeros(x.size(0), 3)
        for s, t in edges:
            agg[t] = agg[t] + LAYER(x[s])
        out.append(agg.sum(0))
    return torch.stack(out)


def means(graphs):
    out = []
    for x, edges in graphs:
        agg = torch.zeros((x.shape[0], x.shape[1]), dtype=x.dtype)
        count = torch.zeros(len(x))
        for s, t in edges:
            agg[t] += x[s] * x[t]
            count[t] += 1
        for i in range(len(x)):
            if count[i] > 0:
                agg[i] = agg[i] / count[i]
        out.append(agg.sum(0))
    return torch.stack(out)


def rounds(graphs):
    out = []
    for x, edges in graphs:
        h = x
        for _ in range(3):
            m = torch.zeros_like(h)
            for s, t in edges:
                m[t] += h[s]
            h = torch.tanh(LAYER(m) + h)
        out.append(h.sum(0))
    return torch.stack(out)


def rounds_of_a_cell(graphs):
    out = []
    for x, edges in graphs:
        h = x
        for _ in range(2):
            m = torch.zeros_like(h)
            for s, t in edges:
                m[t] += LAYER(h[s])
            h = CELL(m, h)
        out.append(h.sum(0))
    return torch.stack(out)


def messages_alone(graphs):
    out = []
    for x, edges in graphs:
        h = x
        for _ in range(2):
            m = torch.ones_like(h)
            for s, t in edges:
                m[t] -= h[s]
            h = torch.tanh(LAYER(m))
        out.append(h.sum(0))
    return torch.stack(out)


def rows_set(graphs):
    out = []
    for x, _ in graphs:
        h = torch.empty_like(x)
        for i in range(x.shape[0]):
            h[i] = torch.relu(LAYER(x[i]))
        out.append(h.sum(0))
    return torch.stack(out)


def last_writers(graphs):
    out = []
    for x, edges in graphs:
        h = torch.full_like(x, -1.0)
        for s, t in edges:
            h[t] = x[s] * 2
        out.append(h.sum(0))
    return torch.stack(out)


def numbers_in_rows(graphs):
    out = []
    for x, edges in graphs:
        h = torch.zeros_like(x)
        for s, t in edges:
            h[t, 0] += 1
            h[s, 2] += x[t, 1]
        out.append(h.sum(0))
    return torch.stack(out)


def scores(graphs):
    out = []
    for x, edges in graphs:
        found = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            found[i] = (x[i] * x[i]).sum()
        out.append((torch.softmax(found, 0).unsqueeze(1) * x).sum(0))
    return torch.stack(out)


def read_again(graphs):
    out = []
    for x, edges in graphs:
        h = torch.zeros_like(x)
        for i in range(x.shape[0]):
            h[i] = x[i] * 2
        total = torch.zeros(3)
        for s, t in edges:
            total = total + h[s]
        out.append(total)
    return torch.stack(out)


FUNCTIONS = [
    sums, sums_alone, means, rounds, rounds_of_a_cell, messages_alone, rows_set, last_writers, numbers_in_rows, scores,
    read_again,
]  # fmt: skip
EDGES = [
    [(0, 1), (1, 0), (1, 1)], [(0, 0), (0, 0)], [(2, 1), (2, 1), (0, 2)], [(1, 3), (3, 0)], [],
]  # fmt: skip
SIZES = [2, 1, 3, 4, 2]


def graphs_of(chosen, asking, dtype=torch.float32):
    rows = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(2)).to(dtype)
    return [(rows[k, : SIZES[k]].clone().requires_grad_(k in asking), EDGES[k]) for k in chosen]


def outcome(function, graphs):
    result = function(graphs)
    leaves = [*LAYER.parameters(), *CELL.parameters(), *(x for x, _ in graphs if x.requires_grad)]
    if not result.requires_grad:
        return result, []
    weights = torch.linspace(1, 2, result.numel()).view_as(result)
    return result, torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_values_and_gradients(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for chosen in ([0, 1, 2, 3], [0], [1, 1], [4, 0, 2], [4]):
        for asking in ((), (0, 2), range(5)):
            graphs = graphs_of(chosen, asking)
            wanted, slopes = outcome(function, graphs)
            found, others = outcome(lifted, graphs)
            assert not difference(found, wanted, magnitude=1.0)
            for one, other in zip(slopes, others, strict=True):
                assert (one is None) == (other is None)
                assert one is None or torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_no_loop_over_graphs_stays(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(graphs_of([0, 1, 2, 3], ()))
    assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "sequential"}, lifted.report()
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("edges", [[(0, 2)], [(5, 0)], [(-3, 0)]])
def test_places_that_are_not_there_raise(edges):
    graphs = [*graphs_of([0, 1], ()), (torch.ones(2, 3), edges)]
    lifted = lift(sums, verify="off")
    lifted(graphs_of([0, 1, 2], ()))
    with pytest.raises(IndexError) as wanted:
        sums(graphs)
    with pytest.raises(IndexError) as found:
        lifted(graphs)
    assert str(found.value) == str(wanted.value)


def test_places_counted_from_the_end():
    graphs = [(x, [(s - len(x), t - len(x)) for s, t in edges]) for x, edges in graphs_of([0, 1, 2, 3], ())]
    lifted = lift(sums, verify="off")
    assert torch.allclose(lifted(graphs), sums(graphs))


def columns(graphs):
    out = []
    for x, edges in graphs:
        agg = torch.zeros_like(x)
        source, target = edges
        for k in range(source.size(0)):
            agg[target[k]] += x[source[k]]
        out.append(agg.sum(0))
    return torch.stack(out)


def test_rows_of_an_array_of_edges():
    lifted: Any = lift(columns, verify="off", backend="torch")
    graphs = [(x, torch.tensor(edges).reshape(-1, 2).t()) for x, edges in graphs_of([0, 1, 2, 3], ())]
    assert torch.allclose(lifted(graphs), columns(graphs))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, lifted.report()
    three = [(x, torch.cat([edges, edges[:1]])) for x, edges in graphs]
    with pytest.raises(ValueError, match="too many values to unpack"):
        lifted(three)
