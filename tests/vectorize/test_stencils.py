"""Reads at sums of positions: views of windows, with zeros around the array where a condition keeps places inside."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def lagged(y, coef):
    out = []
    for t in range(len(y)):
        total = coef[0]
        for p in range(1, len(coef)):
            if t - p >= 0:
                total = total + coef[p] * y[t - p]
        out.append(total)
    return torch.stack(out)


def valid(x, w):
    out = torch.zeros(len(x) - len(w) + 1, dtype=x.dtype)
    for i in range(len(x) - len(w) + 1):
        total = 0.0
        for k in range(len(w)):
            total = total + x[i + k] * w[k]
        out[i] = total
    return out


def dilated(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            at = i + 2 * k - 3
            if 0 <= at < len(x):
                total = total + x[at] * w[k]
        out[i] = total
    return out


def backwards(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        for k in range(len(w)):
            if i - k >= 0 and i - k < len(x):
                out[i] += w[k] * x[i - k]
    return out


def far_outside(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            at = i + k + 100
            if at >= 0 and at < len(x):
                total = total + x[at] * w[k]
        out[i] = total
    return out


def other_condition(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            if 0 <= i + k - 1 < len(x) and w[k] > 0:
                total = total + x[i + k - 1] * w[k]
        out[i] = total
    return out


def from_the_end(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            if i + k - 2 < len(x):
                total = total + x[i + k - 2] * w[k]
        out[i] = total
    return out


def neighbours(x, w):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i + 1 < len(x) else 0.0
        out[i] = left * w[0] + right * w[-1] + x[i]
    return out


def greatest(x, w):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        best = x[i]
        for k in range(-2, 3):
            if 0 <= i + k < len(x):
                best = torch.maximum(best, x[i + k])
        out[i] = best
    return out


ONE = [lagged, valid, dilated, backwards, far_outside, other_condition, from_the_end, neighbours, greatest]


@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_windows_of_one_dimension(function, dtype):
    g = torch.Generator().manual_seed(1)
    sizes = [
        (9, 3),
        (4, 4),
        *([(1, 1)] if function is not from_the_end else []),
        *([(2, 5)] if function is not valid else []),
    ]
    calls = [[torch.randn(n, generator=g, dtype=dtype), torch.randn(k, generator=g, dtype=dtype)] for n, k in sizes]
    check(function, *calls, gradients=function not in (greatest, far_outside))


def convolution(x, w, b, stride, padding):
    N, C, H, W = x.shape
    O, _, KH, KW = w.shape
    OH, OW = (H + 2 * padding - KH) // stride + 1, (W + 2 * padding - KW) // stride + 1
    y = torch.zeros(N, O, OH, OW, dtype=x.dtype)
    for n in range(N):
        for o in range(O):
            for i in range(OH):
                for j in range(OW):
                    total = b[o]
                    for c in range(C):
                        for u in range(KH):
                            for v in range(KW):
                                r, s = i * stride + u - padding, j * stride + v - padding
                                if r >= 0 and r < H and s >= 0 and s < W:
                                    total = total + x[n, c, r, s] * w[o, c, u, v]
                    y[n, o, i, j] = total if total > 0 else 0.0
    return y


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 1), (3, 2), (2, 4)])
def test_a_convolution(stride, padding):
    g = torch.Generator().manual_seed(2)
    x, w, b = (torch.randn(*s, generator=g, dtype=torch.float64) for s in ((2, 3, 6, 5), (4, 3, 3, 2), (4,)))
    check(convolution, [x, w, b, stride, padding])
    given = lift(convolution, backend="torch", verify="off")
    wanted = torch.relu(torch.nn.functional.conv2d(x, w, b, stride, padding))
    torch.testing.assert_close(given(x, w, b, stride, padding), wanted)


def box(x, radius):
    H, W = x.shape
    out = torch.zeros_like(x)
    for y in range(H):
        for z in range(W):
            total, count = 0.0, 0
            for dy in range(-radius, radius + 1):
                for dz in range(-radius, radius + 1):
                    if 0 <= y + dy < H and 0 <= z + dz < W:
                        total = total + x[y + dy, z + dz]
                        count += 1
            out[y, z] = total / count
    return out


def test_sums_of_windows():
    g = torch.Generator().manual_seed(3)
    check(box, *([torch.randn(*s, generator=g), r] for s, r in (((5, 7), 1), ((4, 3), 3), ((1, 1), 2), ((6, 2), 0))))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_stays_where_it_is(value):
    x, w = torch.arange(6.0), torch.tensor([1.0, value, 2.0])
    for gradients in (False, True):
        lifted = lift(lagged, verify="off", backend="torch")
        given, wanted = (f(x.clone().requires_grad_(gradients), w) for f in (lifted, lagged))
        torch.testing.assert_close(given, wanted, equal_nan=True)


def test_a_leaf_that_no_iteration_reads_has_no_gradient():
    lifted = lift(far_outside, verify="off", backend="torch")
    for function in (far_outside, lifted, lifted):
        x, w = torch.randn(4), torch.randn(2)
        out = function(x.requires_grad_(), w.requires_grad_())
        assert not out.requires_grad


def lagged_array(y, coef):
    out = np.zeros(len(y))
    for t in range(len(y)):
        for p in range(len(coef)):
            if t - p >= 0:
                out[t] += coef[p] * y[t - p]
    return out


@pytest.mark.parametrize("size", [1, 2, 9])
def test_arrays(size):
    g = np.random.default_rng(4)
    check(lagged_array, [g.normal(size=size), g.normal(size=3)], gradients=False)


def test_an_index_out_of_range_is_the_loop_s():
    def shifted(x, n):
        out = torch.zeros(n)
        for i in range(n):
            for k in range(2):
                out[i] += x[i + k]
        return out

    lifted = lift(shifted, verify="off", backend="torch")
    x = torch.arange(5.0)
    assert torch.equal(lifted(x, 4), shifted(x, 4))
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        lifted(x, 5)
