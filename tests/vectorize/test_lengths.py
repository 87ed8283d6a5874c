"""Sizes that are the same, or are taken from another tensor's shape, are seen to be so."""

import torch
from tests.vectorize.harness import check

from looplift import lift


def pairs(x, y):
    out = []
    for a, b in zip(x, y):
        out.append(a * b)
    return torch.stack(out)


def scaled(m, v):
    out = torch.zeros(len(v), *m.shape)
    for n, row in enumerate(v):
        out[n] = row * m
    return out


def last_sizes(m, v):
    out = torch.zeros(len(v), *m.shape[1:])
    for n in range(len(v)):
        out[n] = m[0] * v[n]
    return out


def test_zip_of_equal_and_of_other_lengths():
    check(pairs, [torch.randn(5), torch.randn(5)], [torch.randn(3), torch.randn(6)], [torch.randn(6), torch.randn(2)])
    lifted = lift(pairs, verify="off", backend="torch")
    lifted(torch.randn(4), torch.randn(4))
    assert "min(" not in lifted.source


def test_shapes_spread_into_sizes():
    check(scaled, [torch.randn(2, 3), torch.randn(5, 3)], [torch.randn(1, 3), torch.randn(1, 3)])
    check(last_sizes, [torch.randn(2, 3), torch.randn(5)], [torch.randn(1, 3), torch.randn(1)])
    lifted = lift(scaled, verify="off", backend="torch")
    lifted(torch.randn(2, 3), torch.randn(5, 3))
    assert "zeros" not in lifted.source


def rectified(x, w):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for k in range(x.shape[1]):
            total = total + x[i, k] * w[k]
        out[i] = total if total > 0 else 0.1 * total
    return out


def thresholded(x, w):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for k in range(x.shape[1]):
            total = total + x[i, k] * w[k]
        out[i] = total if total > 0.5 else 0.0
    return out


def test_a_sum_that_decides_where_both_sides_meet_is_a_reduction():
    x, w = torch.randn(6, 4), torch.randn(4)
    check(rectified, [x, w])
    lifted = lift(thresholded, verify="off", backend="torch")
    torch.testing.assert_close(lifted(x, w), thresholded(x, w))
    assert {loop.decision for loop in lifted.report().loops} != {"lanes"}
