"""Elements of rows and stacks that nobody reads: autograd multiplies their gradient of zero, by infinity to NaN."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")
BACKENDS = ["auto", "torch", "native"]


def products(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        row = x[i] * w[i] * 2
        h = torch.tanh(h * 0.5 + row[-1])
    return h


def powers(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        row, other = torch.exp(x[i]), x[i] ** 2
        h = torch.tanh(h * 0.5 + row[0] * 0.1 + other[2])
    return h


def dots(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        h = torch.tanh(h * 0.5 + torch.mv(w, x[i])[0] + (w * x[i]).sum(1)[1])
    return h


def stacks(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        s = torch.stack([x[i, 0] * 1.0, torch.sqrt(x[i, 1] * x[i, 1]), x[i, 2] * w[i, 2]])
        h = torch.tanh(h * 0.5 + s[0])
    return h


def greatest(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        h = torch.tanh(h * 0.5 + max(x[i] * w[i]) - min(torch.exp(x[i])))
    return h


def scaled(x, w):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        row = torch.tanh(x[i] * w[i, 1]) * x[i]
        if x[i, 0] < 100:
            h = torch.tanh(h * 0.5 + row[2])
    return h


def stored(x, w):
    table = torch.zeros(x.shape[0] + 1, x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        row = (table[i] + x[i]) * w[i]
        table[i + 1] = x[i] * 2
        table[i + 1, 0] = row[0]
    return table[:, 0].sum()


PROGRAMS = [products, powers, dots, stacks, greatest, scaled, stored]
X = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [-0.7, 0.8, -0.9]], dtype=D)
W = torch.tensor([[1.0, 0.5, 2.0], [1.0, 2.0, 3.0], [0.5, -0.5, 0.5]], dtype=D)


def put(x, *places):
    x = x.clone()
    for row, column, value in places:
        x[row, column] = value
    return x


ARGUMENTS = {
    "plain": (X, W),
    "zero": (put(X, (1, 1, 0.0)), W),
    "infinite": (put(X, (0, 1, INF)), W),
    "negative": (put(X, (2, 1, -INF)), W),
    "nan": (put(X, (2, 1, NAN)), W),
    "large": (put(X, (0, 1, 800.0)), W),
    "weight": (X, put(W, (1, 1, INF))),
    "last_weight": (X, put(W, (0, 2, -INF), (1, 2, NAN))),
}


def gradients(f, x, w, *, both):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_(both)
    y = f(x, w)
    found = torch.autograd.grad(y, [x, w] if both else [x], allow_unused=True)
    return y.detach(), *(torch.tensor(7.0) if one is None else one for one in found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_loops(program, name, backend):
    lifted = lift(program, verify="off", backend=backend)
    for both in (False, True):
        wanted = gradients(program, *ARGUMENTS[name], both=both)
        found = gradients(lifted, *ARGUMENTS[name], both=both)
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one not in (scaled, stored)])
def test_finite_rows_are_kernels(program):
    lifted = lift(program, verify="off", backend="native")
    gradients(lifted, X, W, both=True)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}, str(lifted.report())
