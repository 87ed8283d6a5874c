"""The gradient of ``amax`` and ``amin`` of one element that is NaN is NaN; that of ``max`` and ``min`` is one."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")


def each(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].amax() + x[i].amin())
    return torch.stack(out)


def each_along(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = torch.amax(x[i] * 2, 0) + x[i].max()
    return out


def carried(x):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        h = torch.nan_to_num(h) * 0.5 + torch.where(x[i] == x[i], torch.amin(x[i]), x[i].amax() * 0)
        h = torch.tanh(h)
    return h


def carried_of_others(x):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        h = h * 0.5 + x[i].max() * x[i].min()
    return h


def by_key(x):
    found = {}
    for i in range(len(x)):
        found[i % 2] = found[i % 2] + x[i].amax() if i % 2 in found else x[i].amin()
    return torch.stack([found[k] for k in found])


def taken(x):
    out = []
    for i in range(len(x)):
        one = x[i] * 1.0
        (g,) = torch.autograd.grad(one.amax() * one, one, create_graph=True)
        out.append(g)
    return torch.stack(out)


def taken_and_carried(x):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        one = x[i].detach().clone().requires_grad_()
        (g,) = torch.autograd.grad(one.amin() * 3, one)
        h = torch.tanh(h * 0.5 + x[i] * g)
    return h


PROGRAMS = [each, each_along, carried, carried_of_others, by_key, taken, taken_and_carried]


def gradients(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    return y.detach(), torch.autograd.grad(y.sum(), leaf)[0]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("values", [[1.0, NAN, 2.0], [NAN], [INF, 1.0, -INF], [0.5, 0.25, -3.0]], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_loops(program, values, backend):
    lifted = lift(program, verify="off", backend=backend)
    for dtype in (D, torch.float32, torch.float16):
        x = torch.tensor(values, dtype=dtype)
        wanted = gradients(program, x)
        torch.testing.assert_close(gradients(lifted, x), wanted, equal_nan=True)


def test_lanes_run_together():
    lifted = lift(each, verify="off")
    lifted(torch.rand(3).requires_grad_())
    assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "native"}, str(lifted.report())
