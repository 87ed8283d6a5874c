"""Derivatives that are written out for activations are torch's own far from zero, at zero, and where they cancel."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")
BACKENDS = ["auto", "torch", "native"]


def logs_of_gradients(f, x):
    out = []
    for i in range(len(x)):
        row = x[i].detach().clone().requires_grad_()
        (g,) = torch.autograd.grad(f(row).sum(), row)
        out.append(torch.log(g))
    return torch.stack(out)


def carried_logs(f, x):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        one = x[i, 0].detach().clone().requires_grad_()
        (g,) = torch.autograd.grad(f(one), one)
        total = torch.tanh(total * 0.5 + torch.log(g) * 0.01)
    return total


def penalties(f, x):
    out = []
    for i in range(len(x)):
        row = x[i] * 1.0
        (g,) = torch.autograd.grad(f(row).sum(), row, create_graph=True)
        out.append((g * g).sum())
    return torch.stack(out)


def steps(f, x):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        h = h * 0.5 + f(x[i, 0] * 1.0)
    return h


ACTIVATIONS = {
    "elu": lambda x: F.elu(x),
    "elu_of_alpha": lambda x: F.elu(x, 0.5),
    "selu": lambda x: F.selu(x),
    "celu": lambda x: F.celu(x),
    "celu_of_alpha": lambda x: F.celu(x, 2.0),
    "softsign": lambda x: F.softsign(x),
    "tanhshrink": lambda x: F.tanhshrink(x),
    "mish": lambda x: F.mish(x),
    "gelu": lambda x: F.gelu(x),
    "gelu_by_tanh": lambda x: F.gelu(x, approximate="tanh"),
}
SMALL = torch.tensor([[-20.0, 1.0, 0.0, -17.5], [-1e-5, 2e-5, -18.0, 3.0], [-60.0, -1.0, 80.0, 0.5]])
FAR = torch.tensor([[-20.0, INF, 0.0], [INF, -INF, 1.0], [NAN, -40.0, 2.0], [-INF, 3.0, NAN]])
AT_ZERO = torch.tensor([[0.0, 1.0, -1.0], [0.5, 0.0, 2.0], [-0.0, -20.0, 40.0]], dtype=D)
LARGE = torch.tensor([[1e4, 1.0], [1e200, -1.0], [-1e155, 0.0]], dtype=D)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("x", [SMALL, SMALL.double(), FAR], ids=["small", "double", "far"])
@pytest.mark.parametrize("program", [logs_of_gradients, carried_logs])
def test_first_derivatives(program, name, x, backend):
    lifted = lift(program, verify="off", backend=backend)
    wanted = program(ACTIVATIONS[name], x)
    torch.testing.assert_close(lifted(ACTIVATIONS[name], x), wanted, rtol=1e-4, atol=0, equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("x", [AT_ZERO, SMALL, LARGE], ids=["zero", "small", "large"])
def test_second_derivatives(name, x, backend):
    found = []
    for f in (penalties, lift(penalties, verify="off", backend=backend)):
        leaf = x.clone().requires_grad_()
        found.append(torch.autograd.grad(f(ACTIVATIONS[name], leaf).sum(), leaf)[0])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("x", [AT_ZERO, SMALL.double()], ids=["zero", "small"])
def test_second_derivatives_of_steps(name, x, backend):
    found = []
    for f in (steps, lift(steps, verify="off", backend=backend)):
        leaf = x.clone().requires_grad_()
        (g,) = torch.autograd.grad(f(ACTIVATIONS[name], leaf), leaf, create_graph=True)
        found.append((g, torch.autograd.grad(g.square().sum(), leaf)[0]))
    torch.testing.assert_close(found[1], found[0], rtol=1e-9, atol=1e-12, equal_nan=True)


def test_penalties_are_batched():
    for name, f in ACTIVATIONS.items():
        lifted = lift(penalties, verify="off")
        lifted(f, AT_ZERO.clone().requires_grad_())
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, (name, str(lifted.report()))
