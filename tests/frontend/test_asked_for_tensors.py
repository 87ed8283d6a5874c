"""``torch.is_tensor`` and ``isinstance`` are answered before the loop runs where the answer is known then."""

import math

import numpy as np
import pytest
import torch

from looplift import lift


def stacked(x, y):
    values = []
    for a, b in zip(x, y):
        values.append(a * math.sqrt(b))
    if torch.is_tensor(x):
        return torch.stack(values)
    return np.array(values)


def stacked_or_not(x, y):
    values = []
    for a, b in zip(x, y):
        values.append(a * math.sqrt(b))
    return torch.stack(values) if isinstance(x, torch.Tensor) else np.array(values)


def by_item(x, y):
    out = torch.zeros(len(x), dtype=torch.float64)
    for i in range(len(x)):
        row = x[i] * 2
        if torch.is_tensor(row):
            out[i] = row + y[i]
        else:
            out[i] = row - y[i]
    return out


def becomes_a_number(x, y):
    out = torch.zeros(len(x), dtype=torch.float64)
    state = torch.ones((), dtype=torch.float64)
    for i in range(len(x)):
        if torch.is_tensor(state):
            state = state.item() + 0.5
        else:
            state = state + 2.0
        out[i] = state * x[i] + y[i]
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [stacked, stacked_or_not])
@pytest.mark.parametrize("as_tensor", [True, False])
def test_questions_behind_the_loop(function, backend, as_tensor):
    data = [np.random.rand(50), np.random.rand(50)]
    arguments = [torch.from_numpy(one) for one in data] if as_tensor else data
    lifted = lift(function, backend=backend)
    for _ in range(3):
        found, expected = lifted(*arguments), function(*arguments)
        assert type(found) is type(expected) and found.dtype == expected.dtype
        assert np.allclose(np.asarray(found), np.asarray(expected), rtol=1e-15, atol=0)
    body = lifted.source[lifted.source.rindex("\ndef ") :]
    assert "is_tensor(x)" not in body and "isinstance(x" not in body


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [by_item, becomes_a_number])
def test_questions_of_what_the_loop_makes(function, backend):
    arguments = [torch.rand(20, dtype=torch.float64), torch.rand(20, dtype=torch.float64)]
    lifted = lift(function, backend=backend)
    for _ in range(3):
        assert torch.equal(lifted(*arguments), function(*arguments))


def test_gradients_flow_through_what_was_chosen():
    x = torch.rand(20, dtype=torch.float64, requires_grad=True)
    lifted = lift(by_item)
    for _ in range(3):
        (expected,) = torch.autograd.grad(by_item(x, x).square().sum(), x)
        (found,) = torch.autograd.grad(lifted(x, x).square().sum(), x)
        torch.testing.assert_close(found, expected, rtol=1e-14, atol=0)
    assert "is_tensor(row)" not in lifted.source
