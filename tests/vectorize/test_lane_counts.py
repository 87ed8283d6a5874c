"""Entries of lanes of several loops, whose extents are sums and quotients: each entry belongs to its own lane."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check


def masked(a, w):
    out = []
    for i in range(1, a.shape[0]):
        for j in range(a.shape[0] - 2):
            chosen = (w[j] > 0) & (a[i] > -1)
            out.append((a[i][chosen].exp() * w[j][chosen]).prod())
    return torch.stack(out)


def halves(a, w):
    out = torch.zeros(a.shape[0], a.shape[0], dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[0] // 2):
            chosen = (w[j] > 0) & (a[i] > -1)
            out[i, j] = (a[i][chosen] * w[j][chosen]).prod()
    return out


def three_loops(a, w):
    out = torch.zeros((), dtype=a.dtype)
    for i in range(a.shape[0] // 2, a.shape[0]):
        for j in range(1, w.shape[0]):
            for k in range(j):
                chosen = (w[j] > 0) & (a[i] > w[k])
                out = out + (a[i][chosen] * w[k][chosen]).prod()
    return out


def pairs(a, w):
    out = []
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            out.append(a[i, j:].prod() + (w[i, :j] * 2).prod())
    return torch.stack(out)


def triangle(a, w):
    out = torch.zeros((), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(i):
            out = out + a[i, j:].amax() + w[j:].sum()
    return out


@pytest.mark.parametrize("function", [masked, halves, three_loops, pairs, triangle])
def test_entries_of_lanes_of_several_loops(function):
    generator = torch.Generator().manual_seed(0)
    calls = [[torch.randn(n, 6, generator=generator, dtype=torch.float64) for _ in range(2)] for n in (7, 4, 5)]
    check(function, *calls, gradients=function is not triangle)
