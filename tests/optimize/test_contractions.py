"""Sums of products and counts of booleans as contractions and counts: what the loop computes, to rounding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check, copies

from looplift import lift


def counts_of_both(a, b):
    out = torch.zeros(len(a), len(b), dtype=torch.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = (a[i] & b[j]).sum()
    return out


def shares_of_either(a, b):
    out = torch.zeros(len(a), len(b))
    for j in range(len(b)):
        for i in range(len(a)):
            u = (a[i] | b[j]).sum()
            n = torch.logical_and(b[j], a[i]).sum()
            if u > 0:
                out[i, j] = n / u
    return out


def summed_lanes(x, y):
    rows = []
    for i in range(len(x)):
        row = []
        for j in range(len(y)):
            row.append((x[i] * y[j]).sum())
        rows.append(torch.stack(row))
    return torch.stack(rows)


def outer_products(x, y):
    acc = torch.zeros(x.shape[1], y.shape[1], dtype=x.dtype)
    for i in range(len(x)):
        acc = acc + torch.outer(x[i], y[i])
    return acc


def weighted_rows(w, x):
    acc = torch.zeros(x.shape[1], dtype=x.dtype)
    for i in range(len(x)):
        acc = acc + w[i] * x[i]
    return acc


def matrices_by_vectors(W, x):
    acc = torch.zeros(W.shape[1], dtype=x.dtype)
    for i in range(len(x)):
        acc = acc + W[i] @ x[i]
    return acc


def matrices_by_one_vector(W, x):
    acc = torch.zeros(W.shape[1], dtype=x.dtype)
    for i in range(len(W)):
        acc = acc + W[i] @ x
    return acc


def labels_and_masks(m, l, k):
    out = torch.zeros(k, len(m), dtype=torch.int64)
    for c in range(k):
        for i in range(len(m)):
            out[c, i] = ((l == c) & m[i]).sum()
    return out


def pairs_of_labels(l, k):
    out = torch.zeros(k, k, dtype=torch.int64)
    for c in range(k):
        for i in range(k):
            out[c, i] = ((l == c) & (l == i)).sum()
    return out


def either_of_labels(l, m, k):
    out = torch.zeros(k, k + 1, dtype=torch.int64)
    for c in range(k):
        for i in range(k + 1):
            out[c, i] = ((l == c) | (m == i)).sum()
    return out


def either_of_masks(a, b):
    out = torch.zeros(len(a), len(b), dtype=torch.int64)
    for c in range(len(a)):
        for i in range(len(b)):
            out[c, i] = (a[c] | b[i]).sum()
    return out


def labels_counted(l, k):
    out = []
    for c in range(2, k):
        out.append((l == c).sum())
    return torch.stack(out)


def kernel_sums(x, y):
    s = torch.zeros(len(x), x.shape[1], dtype=x.dtype)
    for i in range(len(x)):
        acc = torch.zeros(x.shape[1], dtype=x.dtype)
        for j in range(len(y)):
            acc = acc + torch.exp(-(x[i] * y[j]).sum()) * y[j]
        s[i] = acc
    return s


def partly_summed(x, y):
    s = torch.zeros(len(x), len(y), 3, dtype=x.dtype)
    for i in range(len(x)):
        for j in range(len(y)):
            s[i, j] = (x[i] * y[j]).sum(0)
    return s


def summed_pairs(x, y):
    t = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            t = t + (x[i] * y[j]).sum()
    return t


def tensordots(v, a, w):
    total = torch.zeros(a.shape[-1], w.shape[-1], dtype=v.dtype)
    for s in range(a.shape[1]):
        left = torch.tensordot(v, a[:, s], ([0], [0]))
        for t in range(w.shape[1]):
            total += torch.tensordot(left, w[:, t], dims=([0], [0]))
    return total


def products_of_matrices(a, w):
    out = torch.zeros(a.shape[0], w.shape[0], a.shape[1], w.shape[2], dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(w.shape[0]):
            out[i, j] = torch.tensordot(a[i], w[j], dims=1)
    return out


GENERATOR = torch.Generator().manual_seed(0)


def floats(*shape):
    return torch.randn(*shape, generator=GENERATOR, dtype=torch.float64)


def masks(*shape):
    return torch.rand(*shape, generator=GENERATOR) < 0.4


def labels(*shape):
    return torch.randint(-1, 6, shape, generator=GENERATOR)


CASES = [
    (
        counts_of_both,
        [
            (masks(3, 4), masks(5, 4)),
            (masks(3, 4, 2), masks(5, 1, 2)),
            (masks(2, 0), masks(3, 0)),
            (masks(0, 4), masks(3, 4)),
        ],
    ),
    (shares_of_either, [(masks(3, 4), masks(5, 4)), (masks(3, 4, 2), masks(5, 1, 2)), (masks(1, 4), masks(1, 4))]),
    (
        summed_lanes,
        [
            (floats(3, 4), floats(5, 4)),
            (floats(3, 2, 4), floats(5, 2, 4)),
            (floats(3, 1, 4), floats(5, 2, 1)),
            (floats(3, 0), floats(5, 0)),
        ],
    ),
    (
        outer_products,
        [
            (floats(3, 4), floats(3, 5)),
            (floats(1, 4), floats(1, 5)),
            (floats(0, 4), floats(0, 5)),
            (floats(3, 1), floats(3, 1)),
        ],
    ),
    (
        weighted_rows,
        [(floats(3), floats(3, 5)), (floats(1), floats(1, 5)), (floats(0), floats(0, 5)), (floats(4), floats(4, 1))],
    ),
    (
        matrices_by_vectors,
        [
            (floats(3, 4, 5), floats(3, 5)),
            (floats(1, 4, 5), floats(1, 5)),
            (floats(0, 4, 5), floats(0, 5)),
            (floats(3, 1, 1), floats(3, 1)),
        ],
    ),
    (
        matrices_by_one_vector,
        [(floats(3, 4, 5), floats(5)), (floats(1, 4, 5), floats(5)), (floats(0, 4, 5), floats(5))],
    ),
    (
        labels_and_masks,
        [
            (masks(3, 7), labels(7), 5),
            (masks(3, 7, 2), labels(7, 2), 5),
            (masks(3, 7), labels(7), 0),
            (masks(3, 7), labels(7), 1),
        ],
    ),
    (pairs_of_labels, [(labels(7), 5), (labels(7, 2), 5), (labels(0), 3), (labels(7), 1)]),
    (
        either_of_labels,
        [
            (labels(4, 7), labels(4, 7), 3),
            (labels(1, 7), labels(4, 7), 3),
            (labels(4, 1), labels(1, 7), 2),
            (labels(1, 7), labels(0, 7), 2),
        ],
    ),
    (
        either_of_masks,
        [
            (masks(3, 4, 7), masks(2, 4, 7)),
            (masks(3, 1, 7), masks(2, 4, 7)),
            (masks(3, 4, 1), masks(2, 1, 7)),
            (masks(3, 1, 7), masks(2, 0, 7)),
        ],
    ),
    (labels_counted, [(labels(7), 5), (labels(7, 2), 5), (labels(0), 3), (labels(7), 3)]),
    (kernel_sums, [(floats(3, 4), floats(5, 4)), (floats(1, 4), floats(1, 4)), (floats(3, 4), floats(0, 4))]),
    (
        partly_summed,
        [(floats(3, 4, 3), floats(5, 4, 3)), (floats(3, 1, 3), floats(5, 4, 3)), (floats(1, 4, 3), floats(1, 4, 3))],
    ),
    (summed_pairs, [(floats(3, 4), floats(5, 4)), (floats(3, 1, 4), floats(5, 2, 1)), (floats(0, 4), floats(5, 4))]),
    (tensordots, [(floats(4, 5), floats(4, 3, 2), floats(5, 3, 6)), (floats(4, 5), floats(4, 0, 2), floats(5, 3, 6))]),
    (products_of_matrices, [(floats(3, 4, 5), floats(2, 5, 6)), (floats(1, 4, 5), floats(2, 5, 1))]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_the_sums_and_counts_are_those_of_the_loop(function, calls):
    check(function, *map(list, calls))


def test_counts_of_pairs_and_products_need_no_intermediate():
    for function, spelled in (
        (pairs_of_labels, "label_table("), (counts_of_both, "counted_both("), (summed_lanes, " @ "),
        (matrices_by_vectors, "einsum("), (tensordots, " @ "),
    ):  # fmt: skip
        lifted = lift(function, verify="off", backend="torch")
        lifted(*copies(list(next(calls for one, calls in CASES if one is function)[0]), gradients=False))
        assert spelled in lifted.source


def test_sums_keep_their_precision_under_autocast():
    x, y = floats(3, 64).float(), floats(5, 64).float()
    lifted = lift(summed_lanes, verify="off", backend="torch")
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(lifted(x, y), summed_lanes(x, y), rtol=1e-5, atol=1e-5)


def sum_of_products(x, y):
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(x)):
        for j in range(len(y)):
            total = total + x[i] * y[j]
    return total


def sum_of_projections(x, w):
    total = torch.zeros(len(w), dtype=torch.float64)
    for i in range(len(x)):
        total = total + w @ x[i]
    return total


INFINITY = float("inf")


@pytest.mark.parametrize(
    ("x", "y"),
    [([INFINITY, 1], [0, 1]), ([1.7e308, 1.7e308], [1e-20, 1e-20]), ([1, -0.5], [INFINITY, 2])],
    ids=["zero times infinity", "too large a factor", "infinities of both signs"],
)
def test_a_sum_is_not_factored_where_a_factor_is_not_finite(x, y):
    x, y = torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
    usual = floats(2), floats(2)
    check(sum_of_products, list(usual), [x, y], decisions={"lanes"})
    check(sum_of_projections, [floats(2, 1), floats(2, 1)], [x[:, None], y[:, None]], decisions={"lanes"})


def pairs_above_the_diagonal(x, v):
    out = torch.zeros(len(x), dtype=torch.float64)
    for n in range(len(x)):
        for i in range(x.shape[1]):
            for j in range(i + 1, x.shape[1]):
                out[n] += torch.dot(v[i], v[j]) * x[n, i] * x[n, j]
    return out


def test_masked_pairs_are_contracted():
    check(pairs_above_the_diagonal, [floats(4, 5), floats(5, 3)], [floats(2, 1), floats(1, 3)])
    lifted, x, v = lift(pairs_above_the_diagonal, verify="off", backend="torch"), floats(4, 5), floats(5, 3)
    lifted(x, v)
    assert "vecdot(" in lifted.source
    x[1, 4], x[2, 0] = INFINITY, float("nan")
    torch.testing.assert_close(lifted(x, v), pairs_above_the_diagonal(x, v), equal_nan=True)
    x[1, 4], v[0] = 1.0, INFINITY
    torch.testing.assert_close(lifted(x, v), pairs_above_the_diagonal(x, v), equal_nan=True)


def quadratic_forms(x, w, y):
    out = torch.zeros(x.shape[0])
    for b in range(x.shape[0]):
        total = 0
        for i in range(x.shape[1]):
            for j in range(y.shape[1]):
                total = total + x[b, i] * w[i, j] * y[b, j]
        out[b] = total
    return out


def weighted_products(x, w, y):
    out = torch.zeros(x.shape[0], x.shape[0])
    for a in range(x.shape[0]):
        for b in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(y.shape[1]):
                    out[a, b] += y[b, j] * (w[i, j] * x[a, i])
    return out


@pytest.mark.parametrize("function", [quadratic_forms, weighted_products])
def test_what_one_factor_varies_with_is_summed_first(function):
    calls = [[torch.randn(n, k), torch.randn(k, m), torch.randn(n, m)] for n, k, m in ((5, 4, 3), (2, 2, 2), (1, 3, 1))]
    check(function, *calls)
    lifted: Any = lift(function, backend="torch", verify="off")
    lifted(*calls[0])
    assert ".sum(" not in lifted.source.rpartition("\ndef ")[2]
    calls[0][1][0, 0] = float("inf")
    assert torch.equal(lifted(*calls[0]).isnan(), function(*calls[0]).isnan())
