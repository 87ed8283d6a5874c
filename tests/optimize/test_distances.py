"""Distances between rows: what the loop has, with first and second derivatives, also where rows are equal."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def lengths(a, b):
    out = torch.zeros(len(a), len(b), dtype=a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = torch.norm(a[i] - b[j])
    return out


def squares(a, b):
    out = torch.zeros(len(b), len(a), dtype=a.dtype)
    for i in range(len(b)):
        for j in range(len(a)):
            gap = a[j] - b[i]
            out[i, j] = (gap * gap).sum()
    return out


def kernel(a, b):
    rows = []
    for p in a:
        row = []
        for q in b:
            row.append(torch.exp(-torch.sum((p - q) ** 2) / 2))
        rows.append(torch.stack(row))
    return torch.stack(rows)


def batched(a, b):
    out = torch.zeros(2, len(a), len(b), dtype=a.dtype)
    for k in range(2):
        for i in range(len(a)):
            for j in range(len(b)):
                out[k, i, j] = (a[i] - b[j] * k).norm()
    return out


def pairs(a, b):
    total, count = 0.0, 0
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            d = torch.norm(a[i] - a[j])
            total = total + torch.clamp(2.0 - d, min=0) ** 2
            count += 1
    return total / max(count, 1)


def neighbours(a, b):
    out = torch.zeros(len(a), dtype=a.dtype)
    for i in range(len(a)):
        for j in range(len(a)):
            if i != j:
                out[i] += 1 / (1 + (a[i] - a[j]).norm())
    return out


FUNCTIONS = [lengths, squares, kernel, batched, pairs, neighbours]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_distances(function, dtype):
    g = torch.Generator().manual_seed(1)
    a, b = torch.randn(5, 3, generator=g, dtype=dtype), torch.randn(4, 3, generator=g, dtype=dtype)
    a[3], b[2] = a[1], a[1]
    check(function, [a, b], [a[:2], b[:1]])


@pytest.mark.parametrize("function", [lengths, squares, kernel], ids=lambda f: f.__name__)
def test_no_table_of_differences_is_made(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.randn(4, 3), torch.randn(5, 3))
    assert "dist(" in lifted.source


@pytest.mark.parametrize("function", [squares, kernel], ids=lambda f: f.__name__)
def test_second_derivatives(function):
    a = torch.randn(3, 2, dtype=torch.float64)
    b = torch.cat([a[:1], torch.randn(2, 2, dtype=torch.float64)])
    found = []
    for one in (function, lift(function, verify="off", backend="torch")):
        x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
        (first,) = torch.autograd.grad(one(x, y).pow(2).sum(), x, create_graph=True)
        found.append(torch.autograd.grad(first.pow(2).sum(), (x, y)))
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted)


def test_rows_that_are_broadcast_stay_with_the_loop():
    lifted = lift(squares, verify="off", backend="torch")
    a, b = torch.randn(4, 1), torch.randn(3, 5)
    torch.testing.assert_close(lifted(a, b), squares(a, b))


def test_integers_and_halves_are_subtracted_as_they_are():
    for dtype in (torch.int64, torch.float16):
        a, b = torch.arange(6).view(3, 2).to(dtype), torch.arange(4).view(2, 2).to(dtype)
        torch.testing.assert_close(lift(squares, verify="off")(a, b), squares(a, b))


def pairs_within(x, y, limit):
    count = 0
    for i in range(len(x)):
        for j in range(len(y)):
            if ((x[i] - y[j]) ** 2).sum() <= limit:
                count += 1
    return count


def neighbours(x, y, limit):
    out = torch.zeros(len(x), len(y), dtype=torch.bool)
    for i in range(len(x)):
        for j in range(len(y)):
            d = x[i] - y[j]
            out[i, j] = (d * d).sum() <= limit
    return out


def products_above(x, y, limit):
    count = 0
    for i in range(len(x)):
        for j in range(len(y)):
            if (x[i] * y[j]).sum() > limit:
                count += 1
    return count


@pytest.mark.parametrize("function", [pairs_within, neighbours, products_above])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_compared_is_exact(function, dtype):
    lifted = lift(function, verify="off", backend="torch")
    x = torch.cartesian_prod(torch.arange(4), torch.arange(5)).to(dtype)
    for scale, limit in ((1, 2.0), (1, 5.0), (0.1, 0.05), (1e-3, 8e-6)):
        for exact in (limit, float(((x[0] * scale - x[7] * scale) ** 2).sum())):
            found, wanted = (one(x * scale, x * scale, exact) for one in (lifted, function))
            assert torch.equal(torch.as_tensor(found), torch.as_tensor(wanted))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
