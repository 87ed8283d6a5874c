"""Arrays of each lane into which only some lanes store what has a gradient: those of the others ask for none."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def under_a_condition(x, counts, w):
    out = []
    for b in range(x.shape[0]):
        sums = torch.zeros(4)
        for t in range(x.shape[1]):
            if counts[b] > t:
                sums[t] += x[b, t] * w
        out.append(sums * 2)
    return out


def as_often_as_told(x, counts, w):
    out = []
    for b in range(x.shape[0]):
        sums = torch.zeros(4)
        for t in range(counts[b]):
            sums[t] = x[b, t] * w
        out.append(sums * 2)
    return out


def the_last_one(x, counts, w):
    out = []
    for b in range(x.shape[0]):
        sums = torch.zeros(4)
        for t in range(counts[b]):
            sums[t] = x[b, t] * w
        out.append(sums.sum())
    return out[-1]


def of_graphs(x, counts, w):
    rows = [x[: 2 + b] for b in range(len(counts))]
    edges = [[(t % 2, 0) for t in range(count)] for count in counts]
    out = []
    for nodes, pairs in zip(rows, edges):
        sums = torch.zeros_like(nodes)
        for s, t in pairs:
            sums[t] += nodes[s] * w
        out.append((nodes * sums).sum(0))
    return out


def stacked(x, counts, w):
    return torch.stack(as_often_as_told(x, counts, w))


def always(x, counts, w):
    out = []
    for b in range(x.shape[0]):
        sums = torch.zeros(4)
        for t in range(4):
            sums[t] = x[b, t] * w
        out.append(sums * 2)
    return out


@pytest.mark.parametrize("program", [under_a_condition, as_often_as_told, the_last_one, of_graphs, stacked, always])
def test_gradients_are_none_where_the_loop_has_none(program):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    lifted = lift(program, verify="off", backend="torch")
    for counts in ([1, 2, 3], [0, 2, 1], [2, 0, 0], [4, 4, 0], [0, 0, 0]):
        for chosen in range(3):
            found = []
            for function in (lifted, program):
                w = torch.tensor(2.0, requires_grad=True)
                result = function(x, counts, w)
                results = list(result) if isinstance(result, list) else [result]
                one = results[min(chosen, len(results) - 1)]
                slope = torch.autograd.grad(one.sum(), w, allow_unused=True)[0] if one.requires_grad else None
                found.append(([(r.detach(), r.requires_grad) for r in results], slope))
            assert not difference(*found, magnitude=1.0), counts
    if program is always:
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def from_one_into_another(x, counts, others, w, v):
    out = []
    for b in range(x.shape[0]):
        sums, means = torch.zeros(4), torch.zeros(4)
        for t in range(counts[b]):
            sums[t] = x[b, t] * w
        for t in range(others[b]):
            means[t] = sums[t] * v
        out.append(means * 2)
    return out


def only_where_both(x, counts, others, w, v):
    out = []
    for b in range(x.shape[0]):
        sums, means = torch.zeros(4), torch.zeros(4)
        for t in range(4):
            if t < counts[b]:
                sums[t] = x[b, t] * w
        for t in range(4):
            if t < others[b]:
                means[t] = sums[t] + x[b, t]
        out.append(means * 2)
    return out


def of_some_steps(x, counts, others, w, v):
    """What the second array takes of the first stands in some of its steps alone."""
    out = []
    for b in range(x.shape[0]):
        sums, means = torch.zeros(4), torch.zeros(4)
        for t in range(counts[b]):
            sums[t] = x[b, t] * w
        for t in range(others[b]):
            taken = x[b, t] + 1
            if t == 1:
                taken = sums[t] * 2
            means[t] = taken
        out.append(means.sum())
    return out


def of_graphs_twice(x, counts, others, w, v):
    rows = [x[: 2 + b] for b in range(len(counts))]
    out = []
    for nodes, first, second in zip(rows, counts, others):
        sums, means = torch.zeros_like(nodes), torch.zeros_like(nodes)
        for t in range(first):
            sums[t % 2] += nodes[0] * w
        for t in range(second):
            means[0] += sums[t % 2] * v
        out.append((nodes * means).sum(0))
    return out


def stacked_in_the_end(x, counts, others, w, v):
    return [torch.stack(from_one_into_another(x, counts, others, w, v))]


TWICE = [from_one_into_another, only_where_both, of_some_steps, of_graphs_twice, stacked_in_the_end]
COUNTS = [[1, 2, 3], [0, 2, 1], [2, 0, 0], [4, 4, 0], [0, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("program", TWICE)
def test_what_is_stored_again_has_the_gradients_of_the_loop(program, backend):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    lifted = lift(program, verify="off", backend=backend)
    for counts in COUNTS:
        for others in COUNTS:
            found = []
            for function in (lifted, program):
                w, v = (torch.tensor(number, requires_grad=True) for number in (2.0, 3.0))
                results = function(x, counts, others, w, v)
                slopes = [
                    torch.autograd.grad(one.sum(), (w, v), allow_unused=True, retain_graph=True)
                    for one in results
                    if one.requires_grad
                ]
                found.append(([(r.detach(), r.requires_grad) for r in results], slopes))
            assert not difference(*found, magnitude=1.0), (counts, others)
