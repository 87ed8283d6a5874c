"""A loop that carries rows hands out its first state, the very memory, where it has no iteration."""

import pytest
import torch

import looplift


def of_a_row(scores, first):
    score = scores[0]
    for t in range(1, len(scores)):
        score = torch.logsumexp(score.unsqueeze(1) + 0.1, 0) + scores[t]
    return score


def of_an_argument(scores, first):
    score = first
    for t in range(1, len(scores)):
        score = torch.logsumexp(score.unsqueeze(1) + 0.1, 0) + scores[t]
    return score


@pytest.mark.parametrize("program", [of_a_row, of_an_argument], ids=lambda p: p.__name__)
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_the_first_state(program, backend):
    lifted = looplift.lift(program, backend=backend)
    for n in (5, 1, 7, 1):
        scores, first = torch.randn(n, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
        got, wanted = lifted(scores, first), program(scores, first)
        torch.testing.assert_close(got, wanted)
        assert (got.data_ptr() == scores.data_ptr()) == (wanted.data_ptr() == scores.data_ptr())
        assert (got is first) == (wanted is first)
