"""Many gradients are computed at once, as by ``is_grads_batched`` and vectorised Jacobians, of kernels too."""

import pytest
import torch

from looplift import lift

D = torch.float64


def sums(x):
    h = torch.zeros((), dtype=x.dtype)
    out = []
    for i in range(x.shape[0]):
        h = h * 0.5 + x[i]
        out.append(h)
    return torch.stack(out)


def weighted(x):
    h, out = torch.zeros((), dtype=x.dtype), []
    for i in range(x.shape[0]):
        h = h * torch.sin(x[i]) + x[i] * x[i]
        out.append(h)
    return torch.stack(out)


def stored(x):
    y = torch.zeros_like(x)
    for i in range(1, x.shape[0]):
        y[i] = torch.sin(x[i]) + torch.tanh(y[i - 1] * 0.5)
    return y


def number(x):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        h = torch.tanh(h * 0.3 + x[i])
    return h


def by_key(x):
    found = {}
    for i in range(len(x)):
        k = i % 2
        found[k] = torch.tanh(found[k] * 0.5 + x[i]) if k in found else x[i] * x[i]
    return torch.stack([found[0], found[1]])


PROGRAMS = [sums, weighted, stored, number, by_key]


def batched(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    y = torch.stack([y, y * y]) if y.dim() == 0 else y
    return torch.autograd.grad(y, leaf, torch.eye(len(y), dtype=D), is_grads_batched=True)[0]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_loops(program, backend):
    lifted = lift(program, verify="off", backend=backend)
    x = torch.linspace(-1, 1, 5, dtype=D)
    for _ in range(2):
        torch.testing.assert_close(batched(lifted, x), batched(program, x), rtol=1e-9, atol=1e-12)
        jacobians = [torch.autograd.functional.jacobian(f, x, vectorize=True) for f in (lifted, program)]
        torch.testing.assert_close(*jacobians, rtol=1e-9, atol=1e-12)
