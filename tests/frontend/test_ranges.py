"""Ranges that are held by names, stand in tuples or are chosen: the loops over them are lifted, and right."""

import numpy as np
import pytest
import torch

from looplift import lift


def sweep(T):
    n = len(T)
    T = T.clone()
    for ks in (range(1, n - 1), range(n - 2, 0, -1)):
        for k in ks:
            T[k] = torch.minimum(T[k - 1], T[k + 1]) + 0.1
    return T


def sweepn(T):
    n = len(T)
    T = T.copy()
    for xs in (range(1, n - 1), range(n - 2, 0, -1)):
        for ys in (range(1, n - 1), range(n - 2, 0, -1)):
            for i in xs:
                for j in ys:
                    a = min(T[i - 1, j], T[i + 1, j])
                    b = min(T[i, j - 1], T[i, j + 1])
                    T[i, j] = min(T[i, j], min(a, b) + 0.1)
    return T


def rev(T):
    n = len(T)
    h = torch.zeros(n)
    for k in range(n)[::-1]:
        h = 0.5 * h + T[k]
    return h


def step(T):
    n = len(T)
    out = []
    idx = range(0, n, 2)
    for k in idx:
        out.append(T[k].sum())
    return torch.stack(out), len(idx)


def lists(T):
    n = len(T)
    rows = list(range(n))
    out = torch.zeros(n)
    for k in rows[1:]:
        out[k] = T[k, 0] * 2
    return out


def cond(T):
    n = len(T)
    out = torch.zeros(n)
    h = 0.0
    order = range(n) if n > 5 else range(n - 1, -1, -1)
    for k in order:
        h = h * 0.5 + T[k, 0]
        out[k] = h
    return out


def gs(A):
    n = len(A)
    x = np.zeros(n)
    for it in range(6):
        order = range(n) if it % 2 == 0 else range(n - 1, -1, -1)
        for i in order:
            s = 0.0
            for j in range(n):
                if j != i:
                    s += A[i, j] * x[j]
            x[i] = (1.0 - s) / (A[i, i] + n)
    return x


def zero(T, s):
    steps = range(0, 5, s)
    t = 0.0 * len(steps)
    for k in range(len(T)):
        t = t + T[k, 0]
    return t


def carried(T, s):
    n = len(T)
    r = range(n)
    out = torch.zeros(n)
    for it in range(4):
        for k in r:
            out[k] = out[k] * 0.5 + T[k, 0] * it
        r = range(n - 1, -1, -1) if it % 2 else range(0, n, 2)
    return out


def captured(T, s):
    n = len(T)
    r = range(n)
    n = 2
    t = torch.zeros(())
    for k in r:
        t = t + T[k, 1] * n
    return t, len(r)


def returned(T, s):
    r = range(len(T))
    t = 0.0
    for k in r:
        t = t + T[k, 1]
    return t, r


def contains(T, s):
    r = range(1, len(T) - 1)
    t = 0.0
    for k in range(len(T)):
        if k in r:
            t = t + T[k, 1]
    return t


def neg(T, s):
    n = len(T)
    t = torch.zeros(4)
    for rs in [range(n - 5), range(5, n), range(n, 5, -2), range(0)]:
        for k in rs:
            t = t * 0.9 + T[k]
    return t


def zipped(T, s):
    n = len(T)
    a = range(n)
    b = range(n - 1, -1, -1)
    t = torch.zeros(4)
    for i, j in zip(a, b):
        t = t + T[i] * T[j]
    for i, j in enumerate(b):
        t = t - T[i] * j
    for i in reversed(a):
        t = 0.5 * t + T[i]
    return t, [T[i, 0] for i in a], sum(T[i, 1] for i in b)


def helper(T, s):
    def order(n, back):
        return range(n - 1, -1, -1) if back else range(n)

    t = torch.zeros(4)
    for back in (False, True):
        for k in order(len(T), back):
            t = 0.5 * t + T[k]
    return t


def floats(T, s):
    steps = range(float(len(T))) if s == 2 else range(3)
    t = 0.0 * len(steps)
    for k in range(len(T)):
        t = t + T[k, 0]
    return t


def numpyints(T, s):
    a = np.arange(4) + s
    out = []
    for k in range(len(T)):
        r = range(a[k % 4], 4)
        out.append(T[k, 0] * len(r))
    return out


def tensor(seed):
    n = [9, 3, 2, 12][seed % 4]
    return torch.rand(n, n, generator=torch.Generator().manual_seed(seed))


def array(seed):
    n = [9, 3, 2, 12][seed % 4]
    return np.random.default_rng(seed).random((n, n))


LIFTED = [(sweep, tensor), (sweepn, array), (rev, tensor), (step, tensor), (cond, tensor), (gs, array)]


def same(got, want):
    if isinstance(want, tuple | list):
        assert type(got) is type(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    elif isinstance(want, torch.Tensor):
        torch.testing.assert_close(got, want)
    elif isinstance(want, np.ndarray):
        np.testing.assert_allclose(got, want)
    else:
        assert got == want and type(got) is type(want)


@pytest.mark.parametrize(("function", "make"), LIFTED)
def test_ranges_that_are_run_through(function, make):
    lifted = lift(function, verify="off")
    for seed in range(4):
        same(lifted(make(seed)), function(make(seed)))
    assert not any(loop.decision == "kept" for loop in lifted.report().loops), lifted.report()


RIGHT = [zero, carried, captured, returned, contains, neg, zipped, helper, floats, numpyints]


@pytest.mark.parametrize("function", RIGHT)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_other_uses_of_ranges(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(4):
        rows, number = tensor(seed)[:, :2].repeat(1, 2), [1, 0, -1, 2][seed % 4]
        outcomes = []
        for run in (function, lifted):
            try:
                outcomes.append(run(rows, number))
            except (ValueError, TypeError, IndexError) as error:
                outcomes.append((type(error), str(error)))
        same(*outcomes[::-1])
