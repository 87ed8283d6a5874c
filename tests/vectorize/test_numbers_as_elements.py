"""Values that are numbers of Python's in some iterations and elements of tensors in others: what tells these apart."""

import pytest
import torch

from looplift import lift


def last_large(y):
    s, n = 0.29, 0
    for k in range(len(y)):
        if s * 100 >= 29:
            n += 1
        if y[k] > 0.5:
            s = y[k]
    return n


def best_of_all(y):
    best = 0.29
    for v in y:
        if v > best:
            best = v
    return int(best * 100)


def clipped(y):
    out = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        v = y[k]
        if v < 7:
            v = 7
        out[k] = v * 100
    return out


def clipped_digits(y):
    out = torch.zeros(len(y), dtype=torch.float64)
    for k in range(len(y)):
        v = y[k]
        if v < 0.29:
            v = 0.29
        out[k] = v
    return out


def negative(y):
    c = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        s = 7
        if k % 3:
            s = y[k]
        c[k] = -s
    return c


def greatest(y):
    c = torch.zeros(len(y), dtype=torch.int64)
    for k in range(len(y)):
        c[k] = max(7, y[k]) * 100
    return c


def least_as_float(y):
    return [float(min(v, 0.1)) for v in y]


SMALL = torch.tensor([0.1, 0.2, 0.05, 0.21])
BYTES = torch.tensor([0, 9, 3, 200], dtype=torch.uint8)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    "function", [last_large, best_of_all, clipped, clipped_digits, negative, greatest, least_as_float]
)
@pytest.mark.parametrize(
    "y", [SMALL, SMALL.double(), BYTES, BYTES.to(torch.int8), BYTES.long()], ids=lambda y: str(y.dtype)
)
def test_numbers_keep_their_digits(function, y, backend):
    got, want = lift(function, backend=backend, verify="off")(y), function(y)
    assert (torch.equal(got, want) and got.dtype == want.dtype) if torch.is_tensor(want) else got == want


def nearest(x, c):
    """The ordinary search, whose first value is no number to compute with."""
    out = torch.zeros(len(x))
    for i in range(len(x)):
        best = float("inf")
        for j in range(len(c)):
            d = (x[i] - c[j]) ** 2
            if d < best:
                best = d
        out[i] = best * 0.5
    return out


def test_searches_that_begin_with_infinity_stay_lifted():
    x, c = torch.randn(9), torch.randn(5)
    lifted = lift(nearest, backend="torch", verify="off")
    torch.testing.assert_close(lifted(x, c), nearest(x, c))
    assert "kept" not in str(lifted.report())


# ---------------------------------------------------------------- number / tensor


def lanes(x):
    n = 0
    for k in range(len(x)):
        if (k + 1) / x[k] >= 1:
            n += 1
    return n


def in_place(x):
    n = 0
    for k in range(len(x)):
        v = k + 1.0
        v /= x[k]
        if v >= 1:
            n += 1
    return n


def counted(x):
    d = {}
    for k in range(len(x)):
        b = int(49.0 / x[k])
        d[b] = d.get(b, 0) + 1
    return d


def carried(x):
    s, n = 49.0, 0
    for k in range(len(x)):
        if s / x[k] >= 1:
            n += 1
        s = x[k]
    return n


def of_greatest(x):
    n = 0
    for k in range(len(x)):
        if max(x[k] - 1, 49.0) / x[k] >= 1:
            n += 1
    return n


def tiny(x):
    out = torch.zeros(len(x))
    for k in range(len(x)):
        out[k] = k / x[k]
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [lanes, in_place, counted, carried, of_greatest, tiny])
@pytest.mark.parametrize("x", [torch.arange(1.0, 201), torch.arange(1.0, 201).double(), torch.full((3,), 49.0).double(),
                               torch.full((3,), 1e-39), torch.arange(1, 50)],
                         ids=["float32", "float64", "equal", "tiny", "int64"])  # fmt: skip
def test_a_number_over_a_tensor_is_rounded_twice(function, x, backend):
    if function is counted and x[0] == 1e-39:
        x = x * 1e30
    got, want = lift(function, backend=backend, verify="off")(x), function(x)
    if torch.is_tensor(want):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    else:
        assert got == want
