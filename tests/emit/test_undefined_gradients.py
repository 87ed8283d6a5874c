"""Results that nothing asks for behind a function of several results: what they were made of gets no gradient, and not
one of zeros."""

import pytest
import torch

from looplift import lift


class Apart(torch.autograd.Function):
    """Two tensors as they are, each with its own gradient, or none."""

    @staticmethod
    def forward(context, one, other):
        context.set_materialize_grads(False)
        return one.clone(), other.clone()

    @staticmethod
    def backward(context, one, other):
        return one, other


def recurrence(x, y):
    state = torch.zeros(())
    for t in range(len(x)):
        state = 0.5 * state + x[t].sum()
    return state


def greatest(x, y):
    return torch.stack([x[t].max() for t in range(len(x))])


def greatest_of_prefixes(x, y):
    return torch.stack([x[0, : t + 1].amax() for t in range(x.shape[1])])


def greatest_so_far(x, y):
    best = torch.zeros(x.shape[1])
    for t in range(len(x)):
        best = torch.maximum(best, x[t])
    return best


def distances(x, y):
    out = torch.zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = (x[i] - y[j]).norm()
    return out


def picked(x, y):
    return torch.stack([x[t, t % 2] for t in range(len(x))])


FUNCTIONS = [recurrence, greatest, greatest_of_prefixes, greatest_so_far, distances, picked]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_nothing_asks_for_has_no_gradient(function, backend):
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(4, 3, generator=generator, requires_grad=True) for _ in range(2))
    other = torch.randn(3, generator=generator, requires_grad=True)
    lifted = lift(function, verify="off", backend=backend)
    for called in (function, lifted, lifted):
        _, mine = Apart.apply(called(x, y), other)
        assert torch.autograd.grad(mine.sum(), [x, y], allow_unused=True) == (None, None)
