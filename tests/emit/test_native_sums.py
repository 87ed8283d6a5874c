"""Sums that begin as Python's zero and become tensors, and loops over rows that nothing but a kernel can run."""

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def steepest_descent(a, b):
    x = torch.zeros(b.shape[0])
    before = 1.0
    for _ in range(3):
        r = torch.zeros(b.shape[0])
        for i in range(b.shape[0]):
            r[i] = b[i]
            for j in range(b.shape[0]):
                r[i] -= a[i, j] * x[j]
        rr = 0.0
        for i in range(b.shape[0]):
            rr += r[i] * r[i]
        rar = 0.0
        for i in range(b.shape[0]):
            for j in range(b.shape[0]):
                rar += r[i] * a[i, j] * r[j]
        step = rr / rar
        for i in range(b.shape[0]):
            x[i] += step * r[i] + 0.001 * (rr / before) ** 2
        before = rr
    return x


def running_moments(a, b):
    count = 0
    mean = 0.0
    spread = 0.0
    for value in b:
        count += 1
        delta = value - mean
        mean += delta / count
        spread += delta * (value - mean)
    return mean, spread / count


def leapt(a, b):
    for i in range(a.shape[0]):
        x = a[i, 0] + 0.5
        v = a[i, 1] + 0.0
        for _ in range(4):
            v -= 0.1 * x / (x * x + 0.3) ** 1.5
            x += 0.1 * v
        a[i, 0] = x
        a[i, 1] = v
    return a


def triangular_rows(a, b):
    x = torch.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def factored_rows(a, b):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def relaxed_slices(a, b):
    for _ in range(3):
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return a


LOOPS = (steepest_descent, running_moments, leapt, triangular_rows, factored_rows, relaxed_slices)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_sums_of_tensors_and_rows_in_one_kernel(loop, dtype):
    lifted = lift(loop, verify="off")
    for seed, size in enumerate((4, 5, 3, 9)):
        torch.manual_seed(seed)
        a = torch.rand(size, size, dtype=dtype) + size * torch.eye(size, dtype=dtype)
        b = torch.rand(size, dtype=dtype)
        mine, theirs = [a.clone(), b.clone()], [a.clone(), b.clone()]
        torch.set_default_dtype(dtype)
        try:
            got, want = lifted(*mine), loop(*theirs)
        finally:
            torch.set_default_dtype(torch.float32)
        assert difference((got, mine), (want, theirs)) is None
    assert "kept" not in {record.decision for record in lifted.report().loops}


def test_a_sum_of_nothing_stays_a_number():
    def shares(a, b):
        out = torch.zeros(a.shape[0])
        for i in range(a.shape[0]):
            total = 0.0
            weight = 0.0
            for j in range(b.shape[0]):
                total += a[i, j] * b[j]
                weight += b[j]
            out[i] = total / weight
        return out

    lifted = lift(shares, backend="native")
    a, b = torch.rand(3, 4), torch.rand(4)
    assert difference(lifted(a, b), shares(a, b)) is None
    for function in (shares, lifted):
        with pytest.raises(ZeroDivisionError):
            function(torch.rand(3, 0), torch.rand(0))


def test_rows_of_arrays_in_a_kernel():
    def solved(a, b):
        x = np.zeros_like(b)
        for i in range(b.shape[0] - 1, -1, -1):
            x[i] = (b[i] - np.sum(a[i, i + 1 :] * x[i + 1 :])) / a[i, i]
        return x

    lifted = lift(solved)
    for size in (5, 3, 8):
        a, b = np.random.default_rng(size).random((size, size)) + size * np.eye(size), np.ones(size)
        assert difference(lifted(a, b), solved(a, b)) is None
