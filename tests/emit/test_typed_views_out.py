"""Programs that hand out views of arrays: the memory, the strides and what may be written through them are NumPy's."""

import numpy as np
import pytest

import looplift


def inner(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.5 + x[i, j]
    return y[k:-1, ::2], x


def beside_the_whole(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.5 + x[i, j]
    return y[k:], y, y[0]


def of_the_caller_s(x, k):
    total = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total = total * 0.5 + x[i, j]
            x[i, j] = total
    return x[:, k], total


def rows_in_a_list(x, k):
    y = np.zeros_like(x)
    rows = []
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.5 + x[i, j]
        rows.append(y[i, k:])
    return rows


def the_same_one_twice(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.5 + x[i, j]
    v = y[k:]
    return v, v, y[k:]


def backwards(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] * 0.5 + x[i, j]
    return y[::-1, k], 1


def convolved_back(slopes, x, w, pad):
    N, F, Ho, Wo = slopes.shape
    HH, WW = w.shape[2:]
    dxp, dw = np.zeros_like(x), np.zeros_like(w)
    for n in range(N):
        for f in range(F):
            for i in range(Ho):
                for j in range(Wo):
                    dw[f] += x[n, :, i : i + HH, j : j + WW] * slopes[n, f, i, j]
                    dxp[n, :, i : i + HH, j : j + WW] += w[f] * slopes[n, f, i, j]
    return dxp[:, :, pad : dxp.shape[2] - pad, pad : dxp.shape[3] - pad], dw


def arrays_in(value):
    if isinstance(value, tuple | list):
        return [one for item in value for one in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def seen(result, arguments):
    every = arrays_in([result, arguments])
    first = [(one.shape, one.strides, one.flags.writeable, one.dtype, one.copy()) for one in every]
    for place, one in enumerate(every):
        if one.size:
            one.flat[0] = 1000.0 + place  # what shares memory shows it
    same = [[a is b for b in every] for a in every]
    return first, [one.copy() for one in every], same


def check(function, *given):
    lifted = looplift.lift(function, verify="off")
    for _ in range(3):
        mine, theirs = ([np.copy(one) if isinstance(one, np.ndarray) else one for one in given] for _ in range(2))
        got, want = seen(lifted(*mine), mine), seen(function(*theirs), theirs)
        assert got[2] == want[2]
        for one, other in zip(got[0], want[0], strict=True):
            assert one[:4] == other[:4] and np.allclose(one[4], other[4])
        assert all(map(np.allclose, got[1], want[1]))
    return [loop.decision for loop in lifted.report().loops]


@pytest.mark.parametrize(
    "function",
    [inner, beside_the_whole, of_the_caller_s, rows_in_a_list, the_same_one_twice, backwards],
)
@pytest.mark.parametrize("k", [1, 2, -2])
def test_views(function, k):
    x = np.random.default_rng(0).normal(size=(9, 6))
    check(function, x, k)


def test_empty_views_and_arrays_in_another_order():
    x = np.random.default_rng(0).normal(size=(9, 6))
    check(inner, x, 8)
    check(of_the_caller_s, x, 5)
    check(of_the_caller_s, np.asfortranarray(x)[::2, 1:], 1)
    check(rows_in_a_list, x, 6)


def test_gradients_of_a_convolution_are_native_at_once():
    rng = np.random.default_rng(0)
    given = rng.normal(size=(2, 3, 5, 5)), rng.normal(size=(2, 2, 7, 7)), rng.normal(size=(3, 2, 3, 3))
    lifted = looplift.lift(convolved_back, verify="off")
    got, want = lifted(*given, 1), convolved_back(*given, 1)
    assert all(map(np.allclose, got, want)) and got[0].strides == want[0].strides
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
