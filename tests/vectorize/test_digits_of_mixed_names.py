"""Names that hold a number of Python's in some iterations and an element of a tensor in others: values and errors are
the loop's where the element would round, wrap around or overflow, and the usual loops of this kind stay lifted."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

BACKENDS = pytest.mark.parametrize("backend", ["auto", "torch", "native"])
LARGE = [20000001, 7, 20000003, 8, 33333331, 4]


def y():
    return torch.tensor([0.5, 2.0, 30.0, 1.0, 7.0, 3.0])


def greatest(y, ids):
    out = torch.zeros(len(y), dtype=torch.float64)
    for k in range(len(y)):
        out[k] = max(y[k], ids[k])
    return out


def last_digits(y, ids):
    n = 0
    for k in range(len(y)):
        v = y[k] if y[k] > 5 else ids[k]
        if v % 10 == 1:
            n += 1
    return n


def checksums(y, m):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        v = y[k] if y[k] > 5 else m
        out[k] = v * m % 7
    return out


def checksums_of_numpy(y, m):
    out = np.zeros(len(y), dtype=np.int64)
    for k in range(len(y)):
        v = y[k] if y[k] > 5 else m
        out[k] = v * m % 7
    return out


def stored_as_int32(y, m):
    out = torch.zeros(len(y), dtype=torch.int32)
    for k in range(len(y)):
        out[k] = y[k] if y[k] > 5 else m
    return out


def hashed(y):
    s, n = 1, 0
    for k in range(len(y)):
        s = s * 31 + 1
        if y[k] > 20:
            s = y[k] * 0
        if s % 5 > 2:
            n += 1
    return n


def cancelled(y):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        v = 0.1 if k % 2 else y[k]
        out[k] = v * 1000003 - 100000
    return out


def rest(y):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        v = 7 if k % 2 else y[k]
        out[k] = v * 5000001 % 10
    return out


def there_and_back(y):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        v = 1e30 if k % 2 else y[k]
        out[k] = v * 1e30 / 1e30
    return out


def vanishing(y):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        v = 1e-30 if k % 2 else y[k]
        out[k] = v * v * 1e40
    return out


def least_of_list(y, z):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        out[k] = min(y[k], z[k]) * 1000003 - 100000
    return out


def carried(y):
    s = 0.1
    out = torch.zeros(len(y))
    for k in range(len(y)):
        out[k] = s * 1000003 - 100000
        if y[k] > 20:
            s = y[k] * 1
    return out


def power(y):
    out = torch.zeros(len(y), dtype=torch.float64)
    for k in range(len(y)):
        v = 20.0 if y[k] < 20 else y[k]
        out[k] = v**300
    return out


def beyond_single(y):
    out = torch.zeros(len(y))
    for k in range(len(y)):
        v = 1e30 if k % 2 else y[k]
        out[k] = v * 1e30
    return out


def beyond_integers(y):
    out = torch.zeros(len(y), dtype=torch.float64)
    for k in range(len(y)):
        v = 7 if k % 2 else y[k]
        out[k] = v * 10**19
    return out


def wrapping(y):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        v = 10**12 + k if k % 2 else y[k]
        out[k] = v * 10**9 % 97
    return out


def added_flags(y):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        v = y[k] > 2
        if k % 2 == 0:
            v = True
        out[k] = v + v
    return out


def subtracted_flags(y):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        v = y[k] > 2
        if k % 2 == 0:
            v = True
        out[k] = v - v
    return out


def carried_flag(y):
    out = torch.zeros(len(y), dtype=torch.int64)
    v = True
    for k in range(len(y)):
        out[k] = v + v
        v = y[k] > 2
    return out


def quotients(y):
    n, v = 0, 2.0
    for k in range(len(y)):
        if divmod(v, 3)[0] > 0.5:
            n += 1
        v = y[k] * 1
    return n


def quotients_of_inner(y):
    out, v = torch.zeros(len(y)), 2
    for k in range(len(y)):
        for _ in range(2):
            w = v
            out[k] += divmod(w, 3)[1]
        v = y[k] if k == 2 else v + 1
    return out


def cube(y, m):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        out[k] = (m * m * m + k) % 97
    return out


TOLD = [
    (greatest, lambda: (y(), LARGE)), (last_digits, lambda: (y(), LARGE)), (last_digits, lambda: (y(), LARGE[1:] * 2)),
    (checksums, lambda: (y().long(), 10**10 + 7)), (checksums_of_numpy, lambda: (y().long().numpy(), 10**10 + 7)),
    (stored_as_int32, lambda: (y().long(), 3 * 10**9)), (stored_as_int32, lambda: (y().double(), 3 * 10**9)),
    (hashed, lambda: (torch.cat([y()[[0, 1, 5]]] * 5 + [y()]),)),
    *((function, lambda: (y(),)) for function in (
        cancelled, rest, there_and_back, vanishing, carried, power, beyond_single, beyond_integers, added_flags,
        subtracted_flags, carried_flag, quotients, quotients_of_inner,
    )),
    (least_of_list, lambda: (y(), [0.1, 0.2, 0.1, 0.1, 0.3, 0.1])), (beyond_integers, lambda: (y().long(),)),
    (wrapping, lambda: (y().long(),)), (cube, lambda: (y(), 10**9)),
]  # fmt: skip


def outcome(function, args):
    try:
        return function(*args), None
    except Exception as error:
        return None, (type(error), str(error))


@BACKENDS
@pytest.mark.parametrize(("function", "arguments"), TOLD, ids=lambda one: getattr(one, "__name__", ""))
def test_what_numbers_have_more_of(function, arguments, backend):
    lifted = lift(function, backend=backend, verify="off")
    wanted, error = outcome(function, arguments())
    for _ in range(2):
        found, raised = outcome(lifted, arguments())
        assert raised == error
        assert difference(found, wanted) is None
    assert not any("internal" in str(loop.code) for loop in lifted.report().loops)


def best(x):
    best = 0
    for k in range(len(x)):
        if x[k] > best:
            best = x[k]
    return best * 2


def from_infinity(x):
    best = -math.inf
    for k in range(len(x)):
        best = max(best, x[k])
    return best


def clipped(x):
    out = torch.zeros_like(x)
    for k in range(len(x)):
        v = x[k]
        if v < 0.3:
            v = 0.3
        if v > 5:
            v = 5
        out[k] = v * 2 + x[k]
    return out


def limited(x, low, high):
    out = torch.zeros_like(x)
    for k in range(len(x)):
        out[k] = min(max(x[k], low), high)
    return out


def summed(x):
    s = 0.0
    out = torch.zeros_like(x)
    for k in range(len(x)):
        s = s + x[k]
        out[k] = s
    return out


def some_are_three(x):
    t = 0.0
    for k in range(len(x)):
        t = t + (x[k] if x[k] > 1 else 3) / (x[k] if x[k] > 0 else 2)
    return t


def index_or_value(x):
    out = torch.zeros_like(x)
    for k in range(len(x)):
        v = k if x[k] > 2 else x[k]
        out[k] = v * 2 - 1
    return out


def squared(x, low):
    out = torch.zeros_like(x)
    for k in range(len(x)):
        v = low if x[k] < low else x[k]
        out[k] = v**2
    return out


USUAL = [
    (best, ()), (from_infinity, ()), (clipped, ()), (limited, (0.3, 7.7)), (limited, (1, 5)), (summed, ()),
    (some_are_three, ()), (index_or_value, ()), (squared, (0.7,)),
]  # fmt: skip


@BACKENDS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("function", "rest"), USUAL, ids=lambda one: getattr(one, "__name__", ""))
def test_usual_ones_stay_lifted(function, rest, dtype, backend):
    x = torch.cat([y().to(dtype)] * 3)
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert difference(lifted(x, *rest), function(x, *rest)) is None
    if backend != "native":
        assert "kept" not in {loop.decision for loop in lifted.report().loops}


def test_a_bound_that_does_not_hold_is_a_requirement():
    lifted = lift(squared, backend="torch", verify="off")
    for low in (0.7, 1e-30, 1e30, 0.0, math.inf):
        wanted, error = outcome(squared, (y(), low))
        found, raised = outcome(lifted, (y(), low))
        assert raised == error
        assert difference(found, wanted) is None
