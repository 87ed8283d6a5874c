"""What a lifted function gives may be changed in place before the backward pass, as what the loop gives."""

import pytest
import torch

from looplift import lift


def exponentials(y):
    out = torch.zeros(len(y), y.shape[1])
    for i in range(len(y)):
        out[i] = torch.exp(y[i])
    return out


def roots(y):
    out = []
    for i in range(len(y)):
        out.append(torch.sqrt(y[i]))
    return torch.stack(out)


def norms(y):
    out = torch.zeros(len(y))
    for i in range(len(y)):
        out[i] = y[i].norm()
    return out


def log_sums(y):
    out = torch.zeros(len(y))
    for i in range(len(y)):
        out[i] = torch.logsumexp(y[i], 0)
    return out


def softmaxes(y):
    out = torch.empty_like(y)
    for i in range(len(y)):
        out[i] = torch.softmax(y[i], 0)
    return out


def product(y):
    total = 1.0
    for row in y:
        total = total * row[0]
    return total


def products(y):
    out = torch.zeros(len(y))
    for i in range(len(y)):
        total = 1.0
        for j in range(y.shape[1]):
            total = total * y[i, j]
        out[i] = total
    return out


def greatest(y):
    total = y[0, 0] * 1
    for row in y:
        total = torch.maximum(total, row[1])
    return total


def running(y):
    total, out = torch.ones(()), []
    for row in y:
        total = total * row[0]
        out.append(total)
    return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(
    "function", [exponentials, roots, norms, log_sums, softmaxes, product, products, greatest, running]
)
def test_a_result_may_be_changed_before_backward(function, backend):
    gradients = []
    for called in (function, lift(function, verify="off", backend=backend)):
        y = (torch.arange(12.0).reshape(4, 3) / 7 + 0.3).requires_grad_()
        result = called(y)
        result *= 0.5
        result.sum().backward()
        gradients.append(y.grad)
    torch.testing.assert_close(*gradients)


def decayed(y):
    out = torch.zeros_like(y)
    h = torch.zeros(y.shape[1])
    for t in range(len(y)):
        h = y[t] * h + y[t]
        out[t] = h
    return h, out


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_the_last_of_all_values_may_be_changed_before_backward(backend):
    gradients = []
    for called in (decayed, lift(decayed, verify="off", backend=backend)):
        y = (torch.arange(12.0).reshape(4, 3) / 7 - 0.5).requires_grad_()
        last, every = called(y)
        last *= 0.5
        every += 1
        (first,) = torch.autograd.grad(last.sum() + every.square().sum(), y, create_graph=True)
        gradients.append((first.detach(), *torch.autograd.grad(first.sum(), y)))
    torch.testing.assert_close(*gradients)


def turned(x, n):
    out = []
    for i in range(n):
        out.append(x[i].roll(1))
    return out


def test_rolling_a_number_changes_nothing():
    x = torch.arange(4)
    assert [int(item) for item in lift(turned, verify="off")(x, 4)] == [0, 1, 2, 3]
