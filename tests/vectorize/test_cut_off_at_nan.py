"""What torch has for the gradient of relu6 and hardtanh at NaN depends on where it stands: then the loop runs."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift

INF, NAN = float("inf"), float("nan")


def capped(x):
    out = []
    for i in range(len(x)):
        out.append(F.relu6(x[i]).sum())
    return torch.stack(out)


def between(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        if x[i, 0] > -5:
            out[i] = (F.hardtanh(x[i] * 2, -1.0, 2.0) * x[i].detach()).sum()
    return out


def by_module(x):
    layer = torch.nn.ReLU6()
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        total = total + layer(x[i]).sum() * i
    return total


def x_of(rows, columns, value, dtype=torch.float64):
    x = torch.linspace(-4, 9, rows * columns, dtype=dtype).reshape(rows, columns)
    x[rows // 2, columns // 2] = value
    return x


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("columns", [1, 3, 4, 17])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 6.0])
@pytest.mark.parametrize("function", [capped, between, by_module])
def test_gradients_are_the_loops(function, value, columns, backend):
    found = []
    for f in (function, lift(function, verify="off", backend=backend)):
        for dtype in (torch.float64, torch.float32):
            leaf = x_of(3, columns, value, dtype).requires_grad_()
            found.append(torch.autograd.grad(f(leaf).nansum(), leaf)[0])
    torch.testing.assert_close(found[2:], found[:2], rtol=0, atol=0, equal_nan=True)


def test_without_nan_lanes_run_together():
    lifted = lift(capped, verify="off")
    lifted(x_of(3, 4, INF).requires_grad_())
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, str(lifted.report())
