"""What a loop does only where two indices are the same is done on the diagonal."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def third_order(x, y):
    n = x.shape[0]
    out = torch.zeros(n, n, n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                v = x[i] * y[j] * x[k]
                if i == j:
                    v = v - x[k]
                if k == i:
                    v = v * y[j] + 1
                if j == k:
                    v = v - x[i] * y[j]
                out[i, j, k] = v
    return out


def in_other_order(x, y):
    n = x.shape[0]
    out = torch.zeros(n, n, n)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                v = x[i] + y[j] * x[k]
                if j == k:
                    v = v * x[i]
                if i != j:
                    v = torch.exp(v)
                out[i, j, k] = v
    return out


def of_rows(a, b):
    """The diagonal has rows."""
    out = torch.zeros(a.shape[0], a.shape[0], a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            row = a[i] * b[j]
            if i == j:
                row = row / 2 + b[j].sum()
            out[i, j] = row
    return out


def singular_beside(a, b):
    """Only on the diagonal a root is taken, of what is negative beside it."""
    out = torch.zeros(a.shape[0], a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            d = torch.dot(a[i], a[j])
            if i == j:
                d = torch.sqrt(d) + d
            out[i, j] = d
    return out


def summed(a, b):
    total = torch.zeros(())
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            v = (a[i] * b[j]).sum()
            w = v * 2 if i == j else v
            total = total + w * w
    return total


def of_another_range(x, y):
    out = torch.zeros(x.shape[0], x.shape[0])
    for i in range(x.shape[0]):
        for j in range(1, x.shape[0]):
            v = x[i] * y[j]
            if i == j:
                v = v + x[i]
            out[i, j] = v
    return out


def rectangle(x, y):
    out = torch.zeros(x.shape[0], y.shape[0])
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            v = x[i] * y[j]
            if i == j:
                v = v + x[i]
            out[i, j] = v
    return out


def kept_as_well(x, y):
    n = x.shape[0]
    first, second = torch.zeros(n, n), torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            v = x[i] * y[j]
            first[i, j] = v
            if i == j:
                v = v - 1.5 * x[j]
            second[i, j] = v
    return first, second


VECTORS = [third_order, in_other_order, of_another_range, kept_as_well]


@pytest.mark.parametrize("function", VECTORS, ids=lambda f: f.__name__)
def test_of_vectors(function):
    check(function, *([torch.randn(n), torch.randn(n)] for n in (4, 3, 2)))
    check(function, [torch.randn(4), torch.randn(4).double()])
    if function is not of_another_range:
        check(function, [torch.randn(1), torch.randn(1)])


@pytest.mark.parametrize("function", [of_rows, singular_beside, summed], ids=lambda f: f.__name__)
def test_of_rows(function):
    check(function, *([torch.randn(n, 3), torch.randn(n, 3)] for n in (4, 2)))


def test_rectangles_have_masks():
    check(
        rectangle, [torch.randn(4), torch.randn(3)], [torch.randn(2), torch.randn(5)], [torch.randn(4), torch.randn(4)]
    )


def test_no_mask_is_made():
    for function, values in ((third_order, torch.randn(2, 4)), (of_rows, torch.randn(2, 4, 3))):
        lifted = lift(function, verify="off", backend="torch")
        lifted(*values)
        assert "torch.where" not in lifted.source
