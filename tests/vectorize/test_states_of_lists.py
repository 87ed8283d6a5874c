"""Loops that carry what they stack of a list that an inner loop fills, and values that are expanded in lanes."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def scores(start, moves, steps):
    score = start
    for _ in range(steps):
        made = []
        for k in range(moves.shape[0]):
            made.append(torch.logsumexp(score + moves[k], 0))
        score = torch.stack(made)
    return score


def joined(start, moves, steps):
    score = start
    for t in range(steps):
        made = []
        for k in range(moves.shape[0]):
            made.append(torch.logsumexp(score + moves[k] + start[t].expand(moves.shape[1]), 0).view(1))
        score = torch.cat(made)
    return score


@pytest.mark.parametrize("function", [scores, joined])
def test_a_state_that_is_stacked_anew(function):
    torch.manual_seed(0)
    calls = [[torch.randn(size), torch.randn(size, size), steps] for size, steps in ((5, 4), (3, 2), (5, 0))]
    check(function, *calls, decisions={"sequential", "lanes"})
    check(function, [torch.randn(1), torch.randn(1, 1), 1], decisions={"sequential", "lanes"})


def fewer(start, moves, count):
    score = start
    for _ in range(3):
        made = []
        for k in range(count):
            made.append((score * moves[k]).sum() + score[k])
        score = torch.stack(made)
    return score


def test_a_state_that_changes_its_length():
    torch.manual_seed(0)
    start, moves = torch.randn(4), torch.randn(4, 4)
    check(fewer, [start, moves, 4], decisions={"sequential", "lanes"})
    lifted = lift(fewer)
    lifted(start, moves, 4)
    assert torch.allclose(lifted(start, moves, 1), fewer(start, moves, 1))
    for count in (3, 0, 5):
        with pytest.raises((RuntimeError, IndexError)) as expected:
            fewer(start, moves, count)
        with pytest.raises(type(expected.value)):
            lifted(start, moves, count)


def test_expanded_rows():
    def rows(x, n):
        found = []
        for i in range(x.shape[0]):
            found.append(x[i].expand(n, -1) + x[i, 0].expand(n, x.shape[1]))
        return torch.stack(found)

    check(rows, [torch.randn(4, 3), 2], [torch.randn(5, 2), 1], decisions={"lanes"})
