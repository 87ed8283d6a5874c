"""Reductions of 0-dim tensors, as code for rows meets them when it is called with numbers."""

import pytest
import torch

from looplift import lift
from looplift.verify import check


def numbers(count, **options):
    return torch.randn(count, generator=torch.Generator().manual_seed(1), **options)


def kernel_matrix(x, y):
    out = torch.zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = torch.exp(-(torch.norm(x[i] - y[j]) ** 2)) + torch.sum((x[i] - y[j]) ** 2)
    return out


def all_reductions(x):
    out = []
    for i in range(len(x)):
        item = x[i]
        one = item.sum(dim=0, keepdim=True) + item.mean(-1) + item.max() + torch.min(item) - item.prod()
        out.append(one + item.amax() * torch.amin(item, 0) + torch.logsumexp(item, 0) + item.std(unbiased=False))
    return torch.stack(out)


def of_integers(x):
    total = 0
    for i in range(len(x)):
        total = total + x[i].sum() * x[i].max() + x[i].argmax() + (x[i] > 2).any()
    return total


def changed_afterwards(x):
    out = []
    for i in range(len(x)):
        one = x[i].sum()
        one += 1
        out.append(one)
    return torch.stack(out), x


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (kernel_matrix, (numbers(5, requires_grad=True), numbers(4))),
        (all_reductions, (numbers(6, dtype=torch.float64, requires_grad=True),)),
        (of_integers, (torch.arange(5, dtype=torch.int32),)),
        (changed_afterwards, (numbers(5),)),
    ],
)
def test_lanes(function, arguments):
    lifted = lift(function, backend="torch")
    assert check(function, lifted, arguments, seconds=1), "they differ"
    lifted(*arguments)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def recurrent(x):
    state = torch.zeros(())
    out = torch.zeros(len(x))
    for i in range(len(x)):
        state = torch.tanh(torch.mean(state.sum(0)) + torch.max(x[i]) * state.prod() - torch.amin(x[i], 0))
        out[i] = state + torch.max(state, x[i])
    return out


@pytest.mark.parametrize("asks", [False, True])
def test_kernels(asks):
    x = numbers(60, requires_grad=asks)
    lifted = lift(recurrent, backend="native")
    found, wanted = lifted(x), recurrent(x)
    torch.testing.assert_close(found, wanted)
    if asks:
        torch.testing.assert_close(torch.autograd.grad(found.sum(), x), torch.autograd.grad(wanted.sum(), x))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
