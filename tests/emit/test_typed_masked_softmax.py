"""Softmax of scores of which some are minus infinity, as in decoders that choose what was not chosen before."""

import pytest
import torch
from torch import nn

import looplift

INF = float("inf")


def greedy(m, xs):
    tours, loss = [], 0
    for enc in xs:
        n = enc.size(0)
        visited = torch.zeros(n, dtype=torch.bool)
        h, lps, tour = enc.mean(0), [], []
        for _ in range(n):
            h = m(h)
            logp = torch.log_softmax((enc @ h).masked_fill(visited, float("-inf")), dim=-1)
            idx = logp.argmax().item()
            lps.append(logp[idx])
            tour.append(idx)
            visited = visited.clone()
            visited[idx] = True
            h = h + enc[idx]
        loss = loss + torch.stack(lps).sum()
        tours.append(tour)
    return tours, loss


def weights(m, xs):
    chosen, total = [], 0
    for enc in xs:
        mask = torch.zeros(enc.size(0))
        h = enc[0]
        for step in range(enc.size(0)):
            p = torch.softmax(enc @ m(h) + mask, 0)
            k = p.argmax().item()
            chosen.append(k)
            h = h + p @ enc
            mask = mask.clone()
            mask[k] = float("-inf")
            total = total + p[step]
    return chosen, total


def outcome(function, m, xs):
    chosen, total = function(m, xs)
    return chosen, total, torch.autograd.grad(total, list(m.parameters()))


def compare(lifted, function, m, xs):
    got, want = outcome(lifted, m, xs), outcome(function, m, xs)
    assert got[0] == want[0]
    torch.testing.assert_close(got[1:], want[1:], equal_nan=True, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("function", [greedy, weights])
def test_as_the_loop(function, backend):
    torch.manual_seed(0)
    m, lifted = nn.Linear(4, 4), looplift.lift(function, backend=backend)
    for shape in ((5, 6, 4), (3, 4, 4), (5, 6, 4)):
        compare(lifted, function, m, torch.rand(shape))
    if backend == "native":
        assert {loop.decision for loop in lifted.report().loops} == {"native"}, lifted.report()


@pytest.mark.parametrize("special", [INF, -INF, float("nan")])
def test_scores_that_are_no_numbers(special):
    """All scores minus infinity, or one that is infinite or NaN, make NaN of all chances."""
    torch.manual_seed(0)
    m, lifted = nn.Linear(4, 4), looplift.lift(weights, backend="native")
    compare(lifted, weights, m, torch.rand(3, 4, 4))
    xs = torch.rand(3, 4, 4)
    xs[1, 2, 0] = special
    compare(lifted, weights, m, xs)
    xs[:] = special
    compare(lifted, weights, m, xs)
