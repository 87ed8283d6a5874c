"""A state that begins as an array to whose items the loop has written, and is another array in each later step."""

import pytest
import torch

from looplift import lift


def shifted(batch, matrix):
    out = []
    for steps in batch:
        state = torch.zeros(4)
        state[0] = 1.0
        for x in steps:
            state = torch.tanh(matrix @ state + x)
        out.append(state)
    return torch.stack(out)


def two_states(batch, matrix):
    out = []
    for steps in batch:
        first = torch.zeros(4)
        if steps.sum() > 12:
            first[0] = 1.0
        for i in range(2):
            first[i + 1] = steps[0, i]
        h = c = first
        for x in steps:
            h, c = torch.tanh(matrix @ h + c * x), torch.relu(h - c)
        out.append(h + c + first)
    return torch.stack(out)


def written_to_afterwards(batch, matrix):
    out = []
    for steps in batch:
        state = torch.zeros(4)
        state[0] = 1.0
        first = state
        for x in steps:
            state = torch.tanh(matrix @ state + x)
        first[1] = 5.0
        out.append(state + first)
    return torch.stack(out)


def written_to_in_each_step(batch, matrix):
    out = []
    for steps in batch:
        state = torch.zeros(4)
        state[0] = 1.0
        for x in steps:
            state = torch.tanh(matrix @ state + x)
            state[1] += 1
        out.append(state)
    return torch.stack(out)


def one_for_all(batch, matrix):
    state, out = torch.zeros(4), []
    for steps in batch:
        state[0] += 1.0
        later = state
        for x in steps:
            later = torch.tanh(matrix @ later + x)
        out.append(later)
    return torch.stack(out)


LIFTED = [shifted, two_states]
KEPT = [written_to_afterwards, one_for_all]


@pytest.mark.parametrize("loop", [*LIFTED, *KEPT, written_to_in_each_step])
def test_states_that_begin_with_stores(loop):
    lifted = lift(loop, backend="torch", verify="off")
    matrix = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    for count in (6, 1, 0):
        batch = torch.rand(5, count, 4, generator=torch.Generator().manual_seed(count))
        if count or loop is not two_states:
            torch.testing.assert_close(lifted(batch, matrix), loop(batch, matrix))
    outer = loops_of(loop, matrix)[0]
    assert (outer.decision == "kept") == (loop in KEPT)


def loops_of(loop, matrix):
    lifted = lift(loop, backend="torch", verify="off")
    lifted(torch.rand(5, 6, 4, generator=torch.Generator().manual_seed(0)), matrix)
    return lifted.report().loops


@pytest.mark.parametrize("loop", LIFTED)
def test_gradients_of_states_that_begin_with_stores(loop):
    matrix = torch.randn(4, 4, generator=torch.Generator().manual_seed(1)).requires_grad_()
    batch = torch.rand(5, 6, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    lifted = lift(loop, backend="torch", verify="off")
    mine, theirs = (torch.autograd.grad(f(batch, matrix).sum(), (batch, matrix)) for f in (lifted, loop))
    torch.testing.assert_close(mine, theirs)
