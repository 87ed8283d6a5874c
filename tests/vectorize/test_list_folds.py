"""``sum``, ``max`` and ``min`` of lists that a loop makes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def losses(x, y):
    found = []
    for i in range(len(x)):
        found.append(F.mse_loss(x[i], y[i]))
    return sum(found) / len(found)


def some_losses(x, y):
    found = []
    for i in range(len(x)):
        if y[i, 0] > 0:
            found.append(F.mse_loss(x[i], y[i]))
    if not found:
        return torch.zeros((), dtype=x.dtype)
    return sum(found) / len(found)


def rows(x, y):
    found = []
    for i in range(len(x)):
        found.append(x[i] * y[i])
    return sum(found)


def means(x, y):
    total = 0
    for i in range(len(x)):
        dots = [x[i] @ y[j] for j in range(len(y))]
        total = total + sum(dots) / len(dots)
    return total


def best(x, y):
    out = []
    for i in range(len(x)):
        dots = [x[i] @ y[j] for j in range(len(y))]
        out.append(max(dots) - min(dots))
    return torch.stack(out)


def nearest(x, y):
    near = [min([((p - q) ** 2).sum() for q in y]) for p in x]
    back = [min((p - q).abs().sum() for p in x) for q in y]
    return sum(near) / len(near) + max(back)


def of_positives(x, y):
    out = []
    for i in range(len(x)):
        positive = [torch.norm(x[i] - x[j]) for j in range(len(x)) if y[j, 0] * y[i, 0] > 0]
        out.append(sum(positive) + max(positive) - min(positive))
    return torch.stack(out)


def growing(x, y):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = max([(x[i] * y[j]).sum() for j in range(i + 1)])
    return out


def rounded(x, y):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = max([torch.round(x[i] @ y[j]) * x[i, 0] for j in range(len(y))])
    return out


def of_roots(x, y):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = max([((x[i] - x[j]) ** 2).sum().sqrt() for j in range(len(x))])
    return out


LOOPS = [losses, some_losses, rows, means, best, nearest, of_positives, growing, rounded, of_roots]


def outcome(function, x, y, grad):
    x, y = (one.clone().requires_grad_(grad) for one in (x, y))
    try:
        found = function(x, y)
    except Exception as error:
        return type(error), str(error)
    if not grad or not isinstance(found, torch.Tensor) or not found.requires_grad:
        return found
    weights = torch.arange(1, found.numel() + 1, dtype=found.dtype).reshape(found.shape)
    return found, *torch.autograd.grad((found * weights).sum(), (x, y), allow_unused=True)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_folds_of_lists_of_tensors(loop, grad):
    lifted = lift(loop, backend="torch")
    for n in (5, 1, 2, 0, 7):
        torch.manual_seed(n)
        x, y = torch.randn(n, 3, dtype=torch.float64), torch.randn(n, 3, dtype=torch.float64)
        got, wanted = outcome(lifted, x, y, grad), outcome(loop, x, y, grad)
        assert type(got) is type(wanted)
        if not isinstance(wanted, torch.Tensor) and not (wanted and isinstance(wanted, tuple)):
            assert got == wanted
        elif isinstance(wanted, tuple) and isinstance(wanted[0], type):
            assert got == wanted
        else:
            torch.testing.assert_close(got, wanted, equal_nan=True)


@pytest.mark.parametrize("loop", [losses, means, best, nearest, of_positives, growing], ids=lambda f: f.__name__)
def test_folds_of_lists_are_lanes(loop):
    lifted = lift(loop, backend="torch")
    for grad in (False, True):
        torch.manual_seed(0)
        outcome(lifted, torch.randn(5, 3), torch.randn(5, 3), grad)
    assert {one.decision for one in lifted.report().loops} == {"lanes"}


def test_what_python_finds_among_numbers_that_are_none():
    lifted = lift(best, backend="torch")
    x, y = torch.randn(4, 3), torch.randn(4, 3)
    lifted(x, y)
    for place in (0, 2, 3):
        y[place] = float("nan")
        torch.testing.assert_close(lifted(x, y), best(x, y), equal_nan=True)


def test_an_item_that_is_a_view_stays_one():
    def greatest(x):
        found = []
        for i in range(len(x)):
            found.append(x[i])
        return max(found)

    x, lifted = torch.tensor([1.0, 3.0, 2.0]), lift(greatest)
    for _ in range(3):
        lifted(x).add_(1)
    assert x[1] == 6


def test_an_item_that_is_in_a_list_handed_out():
    def greatest(x):
        found = []
        for i in range(len(x)):
            found.append(x[i] * 2)
        return found, max(found)

    x, lifted = torch.tensor([1.0, 3.0, 2.0]), lift(greatest)
    for _ in range(3):
        found, one = lifted(x)
        assert any(one is item for item in found)


def of_numbers(x, y):
    out = np.zeros((len(x), 4))
    for i in range(len(x)):
        gaps = [abs(float(x[i]) - float(y[j])) for j in range(len(y))]
        out[i] = max(gaps), min(gaps), sum(gaps), sum([int(y[j]) for j in range(i + 1)])
    return out


def of_array_items(x, y):
    out = []
    for i in range(len(x)):
        gaps = [np.abs(x[i] - y[j]) for j in range(len(y)) if y[j] > x[0]]
        out.append(sum(gaps) + max(gaps) * min(gaps))
    return np.array(out)


@pytest.mark.parametrize("loop", [of_numbers, of_array_items], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_folds_of_lists_of_numbers(loop, backend):
    lifted = lift(loop, backend=backend)
    for n in (5, 1, 2, 0, 9):
        x = np.random.RandomState(n).randn(n) * 5
        y = np.random.RandomState(n + 1).randn(n + 2) * 5 + 9
        np.testing.assert_allclose(lifted(x, y), loop(x, y))
