"""Rows that a loop that stays reads in each step are views that are made once."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def forwards(x, w, h):
    for t in range(x.shape[0]):
        h = torch.tanh(x[t] + h @ w)
    return h


def backwards(x, w, h):
    hs = []
    for t in range(x.shape[0] - 1, -1, -1):
        h = torch.tanh(x[t] * 2 + h @ w)
        hs.append(h)
    return torch.stack(hs)


def columns(x, w, h):
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t].exp() + h @ w)
    return h


def one_before(x, w, h):
    for t in range(1, x.shape[0]):
        h = torch.tanh(x[t] - x[t - 1] + h @ w)
    return h


def around_the_end(x, w, h):
    for t in range(x.shape[0]):
        h = torch.tanh(x[t] - x[t - 1] + h @ w)
    return h


def rows_handed_out(x, w, h):
    kept = []
    for t in range(x.shape[0]):
        row = x[t] + h @ w
        h = torch.tanh(row)
        kept.append(row)
    return kept, h


def rows_that_change(x, w, h):
    x = x.clone()
    for t in range(x.shape[0] - 1):
        h = torch.tanh(x[t] + h @ w)
        x[t + 1] = x[t + 1] + h
    return h, x


FUNCTIONS = [forwards, backwards, columns, one_before, around_the_end, rows_handed_out, rows_that_change]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("gradients", [False, True])
def test_rows(function, gradients):
    for n in (1, 2, 6):
        x = draw(3, n) if function is columns else draw(n, 3)
        arguments = [x.T.contiguous().T if n > 2 else x, draw(3, 3, seed=1), draw(3, seed=2)]
        lifted = lift(function, verify="off", backend="torch")
        found, wanted = (outcome(one, arguments, gradients=gradients) for one in (lifted, function))
        assert not difference(found, wanted, magnitude=1.0, path="call")


def past_the_end(x, w, h):
    for t in range(x.shape[0]):
        h = torch.tanh(x[t + 1] + h @ w)
    return h


def test_a_row_past_the_end_is_the_loops_error():
    lifted = lift(past_the_end, verify="off", backend="torch")
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        lifted(draw(4, 3), draw(3, 3, seed=1), draw(3, seed=2))


def several(xs, w, b):
    """Of samples of several lengths a step reads rows at places that only the step knows."""
    ends = []
    for x in xs:
        h = torch.zeros(3, dtype=torch.float64)
        for t in range(x.shape[0]):
            h = torch.tanh(w @ torch.cat([x[t], h]) + b)
        ends.append(h)
    return torch.stack(ends)


def test_rows_of_samples_of_several_lengths():
    arguments = [[draw(n, 2, seed=n) for n in (3, 1, 4)], draw(3, 5, seed=1), draw(3, seed=2)]
    lifted = lift(several, verify="off", backend="torch")
    found, wanted = (outcome(one, arguments, gradients=True) for one in (lifted, several))
    assert not difference(found, wanted, magnitude=1.0, path="call")
    assert {loop.decision for loop in lifted.report().loops} == {"lanes", "sequential"}
