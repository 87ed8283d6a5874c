"""Slices that are values, and lists of which an ``if`` asks whether they hold anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def bound_first(x):
    out = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        for g in range(2):
            part = slice(g * 2, g * 2 + 2)
            out[i] += x[i, part].mean(0) * (part.stop - part.start)
    return out


def in_a_tuple(x):
    out = []
    for i in range(x.shape[1] - 2):
        place = (slice(None), slice(i, i + 3))
        out.append(x[place].sum(1))
    return torch.stack(out)


def stored(x):
    out = x.clone()
    for i in range(x.shape[0]):
        row = slice(1, None)
        out[i, row] = x[i, slice(0, -1)] * 2
    return out


def backwards_in_array(x):
    out = np.zeros(x.shape)
    for i in range(len(x)):
        out[i] = x[i][slice(None, None, -1)]
    return out


def another_on_each_side(x):
    out = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        if i > 0:
            part = slice(0, 2)
        else:
            part = slice(0, 3)
        out[i] = x[i, part].mean(0)
    return out


def of_the_iteration_before(x):
    out = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(2):
            if j > 0:
                out[i] += x[i, part].mean(0)  # noqa: F821
            part = slice(0, j + 1)
        out[i] += x[i, part].sum(0)
    return out


@pytest.mark.parametrize(
    "loop", [bound_first, in_a_tuple, stored, another_on_each_side, of_the_iteration_before], ids=lambda f: f.__name__
)
def test_slices_as_values(loop):
    lifted = lift(loop)
    for n in (4, 1, 3, 0):
        x = torch.randn(n, 6, 3, dtype=torch.float64)
        torch.testing.assert_close(lifted(x), loop(x))


@pytest.mark.parametrize("loop", [bound_first, in_a_tuple, stored], ids=lambda f: f.__name__)
def test_slices_as_values_are_lanes(loop):
    lifted = lift(loop, backend="torch")
    lifted(torch.randn(4, 6, 3))
    assert {one.decision for one in lifted.report().loops} == {"lanes"}


def test_a_slice_of_numpy():
    lifted, x = lift(backwards_in_array), np.random.RandomState(0).randn(4, 5)
    np.testing.assert_array_equal(lifted(x), backwards_in_array(x))


def hardest(z, y, margin):
    losses = []
    for i in range(len(z)):
        near, far = [], []
        for j in range(len(z)):
            distance = torch.norm(z[i] - z[j])
            if j == i:
                continue
            if y[i] == y[j]:
                near.append(distance)
            else:
                far.append(distance)
        if near and far:
            losses.append(F.relu(max(near) - min(far) + margin))
    return torch.stack(losses).mean() if losses else torch.zeros(())


def either(z, y, margin):
    out = torch.zeros(len(z))
    for i in range(len(z)):
        near = [(z[i] * z[j]).sum() for j in range(len(z)) if y[j] == y[i] and j != i]
        if not near or margin < 0:
            out[i] = -1
        else:
            out[i] = sum(near)
    return out


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("loop", [hardest, either], ids=lambda f: f.__name__)
def test_lists_that_an_if_asks_for(loop, grad):
    lifted = lift(loop, backend="torch")
    for n in (9, 1, 2, 6):
        torch.manual_seed(n)
        z, y = torch.randn(n, 4), torch.randint(0, 3, (n,))
        found = []
        for function in (lifted, loop):
            one = z.clone().requires_grad_(grad)
            result = function(one, y, 0.5)
            has = result.requires_grad
            found.append((result, *torch.autograd.grad(result.sum(), one)) if has else (result,))
        torch.testing.assert_close(*found)
    assert {one.decision for one in lifted.report().loops} == {"lanes"}
