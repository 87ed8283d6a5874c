"""Lists that begin with items, and of which a loop reads the last ones: values, gradients, sizes without steps."""

from typing import Any

import pytest
import torch

from looplift import lift


def last_one(x, w, h):
    rows = []
    for b in range(x.shape[0]):
        states = [h]
        for t in range(x.shape[1]):
            states.append(torch.tanh(w @ states[-1] + x[b, t]))
        rows.append(torch.stack(states[1:]))
    return torch.stack(rows)


def last_two(x, w, h):
    rows = []
    for b in range(x.shape[0]):
        states = [h, h * 2]
        for t in range(x.shape[1]):
            states.append(torch.tanh(w @ states[-1] - states[-2] + x[b, t]))
        rows.append(torch.cat([torch.stack(states), states[-1][None], states[-2][None]]))
    return torch.stack(rows)


def by_index(x, w, h):
    rows = []
    for b in range(x.shape[0]):
        states = [h, h * 2]
        for t in range(2, x.shape[1]):
            states.append(torch.tanh(w @ states[t - 1] - states[t - 2] + x[b, t]))
        rows.append(torch.stack(states))
    return torch.stack(rows)


def after_the_append(x, w, h):
    rows = []
    for b in range(x.shape[0]):
        states, total = [h, h * 2], torch.zeros_like(h)
        for t in range(x.shape[1]):
            states.append(torch.tanh(w @ states[-1] - states[-2] + x[b, t]))
            total = total + states[-1] * states[-2] - states[-3]
        rows.append(torch.stack(states[1:], 1).sum(1) + total * len(states[2:]))
    return torch.stack(rows)


def before_its_begin(x, w, h):
    rows = []
    for b in range(x.shape[0]):
        states = [h]
        for t in range(x.shape[1]):
            states.append(torch.tanh(w @ states[-2] + x[b, t]))
        rows.append(torch.stack(states))
    return torch.stack(rows)


def arguments(samples, steps, seed=0):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
    return draw(samples, steps, 3), draw(3, 3), draw(3)


def outcome(function, values):
    """The result and gradients, or the error."""
    try:
        result = function(*values)
    except Exception as error:
        return type(error), str(error)
    return (result, *torch.autograd.grad(result.square().sum(), values, allow_unused=True))


@pytest.mark.parametrize("sizes", [(4, 5), (1, 1), (3, 2), (2, 0), (1, 3)])
@pytest.mark.parametrize("function", [last_one, last_two, by_index, after_the_append, before_its_begin])
def test_lists_with_items_at_their_begin(function, sizes):
    got: Any = outcome(lift(function, verify="off"), arguments(*sizes))
    want: Any = outcome(function, arguments(*sizes))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert torch.allclose(one, other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("function", [last_one, last_two, by_index, after_the_append])
def test_samples_run_together(function):
    run: Any = lift(function, verify="off", backend="torch")
    run(*arguments(4, 5))
    assert [loop.decision for loop in run.report().loops] == ["lanes", "sequential"], run.report()
