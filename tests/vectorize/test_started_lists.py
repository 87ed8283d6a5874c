"""Lists that begin with items, and loops that read the last one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift


def doubled(x, a):
    out = [x[0]]
    for i in range(1, len(x)):
        out.append(x[i] * a)
    return torch.stack(out) * len(out)


def smoothed(x, a):
    out = [x[0]]
    for t in range(1, len(x)):
        out.append(a * x[t] + (1 - a) * out[-1])
    return torch.stack(out)


def smoothed_by_index(x, a):
    out = [x[0] * 2]
    for t in range(1, len(x)):
        out.append(a * x[t] + (1 - a) * out[t - 1])
    return torch.stack(out, dim=1)


def two_items(x, a):
    out = [x[0], x[1]]
    for t in range(2, len(x)):
        out.append(torch.tanh(a * x[t] + out[-1]))
    return torch.stack(out), out[-1]


def two_lists(x, a):
    xs, ys = [x[0]], [x[1]]
    for t in range(len(x)):
        u, v = xs[-1], ys[-1]
        xs.append(u + 0.1 * (u * v - x[t]))
        ys.append(v + a * (xs[-1] - v))
    for t in range(3):
        a = a * 2
    return torch.stack(xs), torch.stack(ys), a


def pieces(x, a):
    out = [x[:2]]
    for t in range(len(x)):
        out.append(x[t : t + 1] * a)
    return torch.cat(out)


def of_each(x, a):
    found = []
    for i in range(len(x)):
        out = [x[i, 0]]
        for t in range(1, x.shape[1]):
            out.append(a * x[i, t] + (1 - a) * out[-1])
        found.append(torch.stack(out))
    return torch.stack(found)


def chosen(x, a):
    out = [x[0]]
    for t in range(1, len(x)):
        if t % 2 == 0:
            v = out[-1] * a
        else:
            v = out[-1] + x[t]
        out.append(v)
    return torch.stack(out), out[-1]


BECOMES = {
    doubled: {"lanes"},
    smoothed: {"scan"},
    smoothed_by_index: {"scan"},
    two_items: {"sequential"},
    two_lists: {"sequential", "lanes"},
    pieces: {"lanes"},
    of_each: {"lanes", "scan"},
    chosen: {"scan"},
}


@pytest.mark.parametrize("function", BECOMES)
def test_items_before_the_loop(function):
    calls = [[matrix(5, 3), 0.25], [matrix(7, 3), 0.5], [matrix(2, 3), 0.5]]
    check(function, *calls[: 2 if function is two_items else 3], decisions=BECOMES[function])


def test_numbers_of_no_dimension():
    check(smoothed, [vector(6), 0.25], decisions={"scan"})


def test_no_iteration():
    for x in (torch.rand(1, 3), torch.rand(1)):
        assert torch.equal(lift(smoothed, backend="torch")(x, 0.5), smoothed(x, 0.5))


def test_rows_of_arrays():
    def walked(x):
        out = [x[0]]
        for t in range(1, len(x)):
            out.append(np.sin(out[-1]) + x[t])
        return np.stack(out), np.vstack(out)

    x = np.random.default_rng(0).random((5, 3))
    lifted = lift(walked, backend="torch")
    for found, wanted in zip(lifted(x), walked(x), strict=True):
        np.testing.assert_allclose(found, wanted)
    assert {loop.decision for loop in lifted.report().loops} == {"sequential"}


def saved_sometimes(x, weight, every):
    out = []
    for y in x:
        saved = [y]
        for k in range(len(weight)):
            y = y + 0.1 * torch.tanh(weight[k] * y)
            if (k + 1) % every == 0:
                saved.append(y)
        out.append(torch.stack(saved))
    return torch.stack(out)


def saved_where_positive(x, weight, every):
    y, saved = x[0], [x[0], x[0] * every]
    for k in range(len(weight)):
        y = torch.tanh(weight[k] * y) + x[k % len(x)]
        if y[0] > 0:
            saved.append(y)
    return torch.stack(saved), len(saved)


def losses_of_some(x, weight, every):
    losses = [x.sum() * 0]
    for t in range(len(x)):
        if x[t, 0] < 0:
            continue
        losses.append((x[t] * weight[0]).pow(2).sum() * every)
    return torch.stack(losses).mean(), torch.stack(losses)


@pytest.mark.parametrize("function", [saved_sometimes, saved_where_positive, losses_of_some])
def test_lists_that_some_iterations_make_longer(function):
    lifted = lift(function, backend="torch", verify="off")
    for every in (2, 1, 3, 20):
        x, weight = torch.randn(4, 3, dtype=torch.float64), torch.randn(7, 3, dtype=torch.float64)
        runs = []
        for run in (function, lifted):
            given = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
            out = run(*given, every)
            out = out if isinstance(out, tuple) else (out,)
            tensors = [one for one in out if isinstance(one, torch.Tensor)]
            slopes = torch.autograd.grad(sum(one.square().sum() for one in tensors), given, allow_unused=True)
            runs.append((*out, *slopes))
        for found, wanted in zip(*runs, strict=True):
            torch.testing.assert_close(found, wanted)
    assert not any(loop.decision == "kept" for loop in lifted.report().loops), lifted.report()


def other_item(x):
    out = [x[0], x[1]]
    for t in range(2, len(x)):
        out.append(out[0] + out[-2] + x[t])
    return torch.stack(out)


def under_a_condition(x):
    out = [x[0]]
    for t in range(1, len(x)):
        if x[t] > 0.5:
            out.append(out[-1] + x[t])
    return torch.stack(out)


def changed_in_place(x):
    out = [x[0].clone()]
    for t in range(1, len(x)):
        v = out[-1]
        v += 1
        out.append(v * x[t])
    return torch.stack(out)


def left_early(x):
    out = [x[0]]
    for t in range(1, len(x)):
        out.append(out[-1] + x[t])
        if out[-1] > 1.5:
            break
    return torch.stack(out)


def given_out(x):
    out = [x[0]]
    for t in range(1, len(x)):
        out.append(out[-1] + x[t])
    return out, torch.stack(out)


@pytest.mark.parametrize("function", [other_item, under_a_condition, changed_in_place, left_early, given_out])
def test_other_lists_stay_right(function):
    for x in (torch.rand(6), torch.rand(2), torch.rand(9) * 3):
        found, wanted = lift(function, backend="torch")(x.clone()), function(x.clone())
        torch.testing.assert_close(found, wanted)
