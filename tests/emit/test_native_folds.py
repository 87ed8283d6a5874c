"""Kernels with norms of several orders, extremes of whole matrices, and products of numbers that are 0 or tensors."""

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def norms(x, n):
    total = 0.0
    while n > 0:
        n -= 1
        total += np.linalg.norm(x * n, ord=np.inf) + np.linalg.norm(x, np.inf) * np.linalg.norm(x + n, 1)
        total += np.linalg.norm(x[n:] + n, ord=-np.inf)
    return total


def norms_of_tensors(x, n):
    total = torch.zeros((), dtype=x.dtype)
    while n > 0:
        n -= 1
        total = total + torch.norm(x * n, p=float("inf")) + torch.linalg.norm(x, float("inf")) * torch.norm(x + n, 1)
    return total


def other_norms(x, n):
    total = 0.0
    while n > 0:
        n -= 1
        total += np.linalg.norm(x, ord=np.inf) + np.linalg.norm(x, 1)
    return total


def extremes(x, n):
    total = torch.zeros((), dtype=x.dtype)
    while n > 0:
        n -= 1
        total = total + (x * n).abs().max() / x.min() + x.argmax() * 1.5 + torch.argmin(x - n)
    return total


def relaxed(u, tolerance):
    steps = 0
    while True:
        new = u.clone()
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] + u[:-2] - 2 * u[1:-1])
        change = (new - u).abs().max().item()
        u = new
        steps += 1
        if change < tolerance or steps > 50:
            break
    return u, steps


def overlap(a, b):
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    shared = max(0, right - left) * max(0, bottom - top)
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def suppressed(boxes, limit):
    count = boxes.shape[0]
    gone = torch.zeros(count, dtype=torch.bool)
    for i in range(count):
        if gone[i]:
            continue
        for j in range(i + 1, count):
            if not gone[j] and overlap(boxes[i], boxes[j]) > limit:
                gone[j] = True
    return gone


def negated_zero(x, n):
    out = torch.zeros(n)
    k = 0
    while k < n:
        out[k] = 1 / (x[k] * 0 - max(0, x[k]) * max(0, -x[k]) * 3)
        k += 1
    return out


def numbers(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64) - 0.5


def boxes(count):
    corner = numbers(count, 2).float()
    return torch.cat([corner, corner + numbers(2, count).float().T + 0.5], 1)


CASES = [
    (norms, numbers(9).numpy(), 4),
    (norms, numbers(9).numpy().astype(np.float32), 4),
    (norms, np.array([1.0, np.nan, 3.0]), 3),
    (norms, np.zeros(0), 0),
    (norms_of_tensors, numbers(9), 4),
    (extremes, numbers(4, 5), 3),
    (extremes, torch.tensor([[1.0, 2.0], [torch.nan, 3.0]]), 2),
    (extremes, torch.tensor([[1.0, 2.0], [2.0, 1.0]]), 2),
    (relaxed, numbers(12, 5), 1e-3),
    (suppressed, boxes(20), 0.1),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_folds_in_kernels(case):
    function, *values = case
    lifted = lift(function, verify="off", backend="native")
    for _ in range(2):
        why = difference(lifted(*values), function(*values), magnitude=1.0)
        assert not why, f"{why}\n{lifted.source}"
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


OTHERS = [
    (norms, np.zeros(2), 4),
    (other_norms, numbers(4, 4).numpy(), 3),
    (other_norms, np.array([3, -7, 2]), 3),
    (extremes, torch.zeros(3, 0), 2),
    (extremes, torch.tensor([[0.0, -0.0], [-1.0, -0.0]]), 2),
    (negated_zero, torch.tensor([1.0, -1.0, 0.0]), 3),
]  # fmt: skip


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case[0].__name__)
def test_other_folds_are_as_in_the_loop(case):
    function, *values = case
    lifted = lift(function, verify="off", backend="native")
    try:
        expected = function(*values)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            lifted(*values)
        assert str(raised.value) == str(error)
    else:
        assert not difference(lifted(*values), expected, magnitude=1.0)


def eliminated(a, b):
    rows = torch.cat([a, b[:, None]], dim=1)
    for k in range(len(b)):
        p = k + torch.argmax(torch.abs(rows[k:, k])).item()
        if p != k:
            rows[[k, p]] = rows[[p, k]]
        for i in range(k + 1, len(b)):
            rows[i] -= rows[i, k] / rows[k, k] * rows[k]
    return rows


def test_a_matrix_that_is_made_once_makes_no_rows_long():
    a, b = numbers(40, 40), numbers(40)
    lifted = lift(eliminated, verify="off")
    assert not difference(lifted(a, b), eliminated(a, b), magnitude=1.0)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
