"""Rounds in which edges add to lists of tensors, and nodes go on from these: sizes that are the same number."""

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference

EDGES = [(0, 1), (2, 1), (3, 0), (1, 1)]


def rounds_of_tensors(x, w, edges):
    h = x
    for _ in range(2):
        sums = [torch.zeros(x.shape[1]) for _ in range(x.shape[0])]
        for s, t in edges:
            sums[t] = sums[t] + torch.tanh(w * h[s])
        h = torch.stack([torch.sin(sums[i] + h[i]) for i in range(len(h))])
    return h


def rounds_of_lists(x, w, edges):
    h = [x[i] for i in range(x.size(0))]
    for _ in range(2):
        sums = [torch.zeros(x.shape[1]) for _ in range(len(h))]
        for s, t in edges:
            sums[t] = sums[t] + torch.tanh(w * h[s])
        h = [torch.sin(sums[i] + h[i]) for i in range(x.shape[0])]
    return torch.stack(h)


def once(x, w, edges):
    sums = [torch.zeros(x.shape[1]) for _ in range(x.shape[0])]
    for s, t in edges:
        sums[t] = sums[t] + w * x[s]
    return torch.stack([sums[i] * 2 for i in range(len(x))])


@pytest.mark.parametrize("program", [rounds_of_tensors, rounds_of_lists, once], ids=lambda p: p.__name__)
def test_rounds(program):
    x, w = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), torch.linspace(-1, 1, 3)
    decisions = {"lanes"} if program is once else {"lanes", "sequential"}
    check(program, [x, w, EDGES], [x[:4], w, EDGES[:1]], decisions=decisions)


def fewer_than_there_are(x, w, edges):
    """Some sums are left out: of those that were added to, a gradient may come from none."""
    sums = [torch.zeros(x.shape[1]) for _ in range(x.shape[0])]
    for s, t in edges:
        sums[t] = sums[t] + w * x[s]
    return torch.stack([sums[i] * 2 for i in range(len(x) - 1)])


def of_a_list_that_grows(x, w, edges):
    h = [x[i] for i in range(x.shape[0])]
    h.append(x[0])
    sums = [torch.zeros(x.shape[1]) for _ in range(len(h))]
    for s, t in edges:
        sums[t] = sums[t] + w * h[s]
    return torch.stack([sums[i] * 2 for i in range(x.shape[0])])


def of_lists_that_change(x, w, edges):
    h = [x[i] for i in range(x.shape[0])]
    for _ in range(2):
        sums = [torch.zeros(x.shape[1]) for _ in range(len(h))]
        for s, t in edges:
            if t < len(h) and s < len(h):
                sums[t] = sums[t] + w * h[s]
        h = [sums[i] * 2 for i in range(len(h) - 1)]
    return torch.stack(h)


@pytest.mark.parametrize("asking", ["x", "w"])
@pytest.mark.parametrize("program", [fewer_than_there_are, of_a_list_that_grows, of_lists_that_change, once])
def test_gradients_are_none_where_the_loop_has_none(program, asking):
    lifted = lift(program, verify="off", backend="torch")
    for edges in ([(0, 4)], EDGES, [(3, 4), (4, 4)], [(0, 0)]):
        found = []
        for function in (lifted, program):
            x, w = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), torch.linspace(-1, 1, 3)
            leaf = (x if asking == "x" else w).requires_grad_()
            result = function(x, w, edges)
            asks = result.requires_grad
            slope = torch.autograd.grad(result.square().sum(), leaf, allow_unused=True)[0] if asks else None
            found.append((result.detach(), asks, slope))
        assert not difference(*found, magnitude=1.0), edges


def in_each_graph(x, w, edges):
    """Batches of graphs: the sums of each are lists of another length."""
    out = []
    for rows, pairs in zip(x, edges):
        h = rows
        for scale in (1.0, 0.5):
            sums = [torch.zeros(rows.shape[1]) for _ in range(h.shape[0])]
            for s, t in pairs:
                sums[t] = sums[t] + scale * h[s]
            h = torch.stack([torch.tanh(w * sums[i] + h[i]) for i in range(h.shape[0])])
        out.append(h.sum(0))
    return torch.stack(out)


def in_place_in_each_graph(x, w, edges):
    out = []
    for rows, pairs in zip(x, edges):
        sums = [rows[i] * 2 for i in range(rows.shape[0])]
        for s, t in pairs:
            sums[t] = sums[t] + w * rows[s]
        out.append(torch.stack(sums).amax(0))
    return torch.stack(out)


def greatest_in_each_graph(x, w, edges):
    out = []
    for rows, pairs in zip(x, edges):
        best = [rows[i] * w for i in range(rows.shape[0])]
        for s, t in pairs:
            best[t] = torch.maximum(best[t], best[s])
        out.append(torch.stack(best).sum(0))
    return torch.stack(out)


BATCH = [(5, EDGES), (2, [(0, 1), (-1, 0)]), (3, [(2, 2), (0, 2), (1, 2)])]


@pytest.mark.parametrize("program", [in_each_graph, in_place_in_each_graph, greatest_in_each_graph])
def test_batches_of_graphs(program):
    generator = torch.Generator().manual_seed(0)
    x = [torch.randn(n, 3, generator=generator) for n, _ in BATCH]
    w, edges = torch.linspace(-1, 1, 3), [pairs for _, pairs in BATCH]
    lifted = lift(program, verify="off", backend="torch")
    for gradients in (False, True, True):
        for count in (3, 2):
            got, wanted = (
                outcome(one, [x[:count], w, edges[:count]], gradients=gradients) for one in (lifted, program)
            )
            assert not difference(got, wanted, magnitude=1.0)
    if program is not greatest_in_each_graph:
        assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()
