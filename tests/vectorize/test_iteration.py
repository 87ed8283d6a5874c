"""Windows, rolls and indices of several kinds: how loops over places are written."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

CASES = []


def case(*calls, grad=True):
    def registered(function):
        CASES.append((function, [list(call) for call in calls], grad))
        return function

    return registered


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape)))


def integers(high, *shape):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(high))


def normal_array(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def integer_array(high, *shape):
    return np.random.default_rng(high).integers(0, high, size=shape)


@case((normal(5, 12), integers(12, 5)))
def rolled_rows(x, s):
    return torch.stack([torch.roll(r, int(k)) for r, k in zip(x, s)])


@case((normal_array(5, 12), integer_array(12, 5)), grad=False)
def rolled_arrays(x, s):
    return np.stack([np.roll(x[i], s[i]) for i in range(5)])


@case((normal_array(20), 4), (normal_array(9), 3), grad=False)
def means_of_windows(x, w):
    out = np.zeros(len(x) - w + 1)
    for i in range(len(x) - w + 1):
        out[i] = x[i : i + w].mean()
    return out


@case((normal_array(10, 12), 3), grad=False)
def pooled_array(x, w):
    h, v = x.shape
    out = np.zeros((h - w + 1, v - w + 1))
    for i in range(h - w + 1):
        for j in range(v - w + 1):
            out[i, j] = x[i : i + w, j : j + w].max()
    return out


@case((normal_array(11, 13),), grad=False)
def pooled_by_two(x):
    out = np.zeros((5, 4))
    for i in range(5):
        for j in range(4):
            out[i, j] = x[2 * i : 2 * i + 2, 3 * j + 1 : 3 * j + 4].max()
    return out


@case((normal(10, 12), 3), (normal(5, 6), 2))
def spread_of_windows(x, w):
    h, v = x.shape
    out = torch.zeros(h - w + 1, v - w + 1)
    for i in range(h - w + 1):
        for j in range(v - w + 1):
            out[i, j] = x[i : i + w, j : j + w].std()
    return out


@case((normal(2, 10, 12), normal(3, 3)))
def convolved(x, k):
    out = torch.zeros(2, 8, 10)
    for c in range(2):
        for i in range(8):
            for j in range(10):
                out[c, i, j] = (x[c, i : i + 3, j : j + 3] * k).sum()
    return out


@case((normal(12),), (normal(5),))
def windows_under_a_mask(x):
    out = torch.zeros(len(x))
    for i in range(1, len(x) - 1):
        if x[i] > 0:
            out[i] = x[i - 1 : i + 2].sum()
    return out


@case((normal(6),))
def circular(x):
    out = torch.zeros(6)
    for i in range(6):
        out[i] = x[i - 1] + x[(i + 1) % 6]
    return out


@case((normal_array(4, 5),), grad=False)
def by_indices(x):
    out = np.zeros_like(x)
    for i, j in np.ndindex(4, 5):
        out[i, j] = x[i, j] ** 2
    return out


@case((normal_array(4, 5),), grad=False)
def by_index(x):
    out = np.zeros_like(x)
    for idx in np.ndindex(x.shape):
        out[idx] = x[idx] ** 2
    return out


@case((normal_array(4, 5),), grad=False)
def enumerated(x):
    out = np.zeros_like(x)
    for (i, j), v in np.ndenumerate(x):
        out[i, j] = v * i
    return out


@case((normal(4, 5), normal(3, 5)))
def products(x, y):
    return torch.stack([torch.dot(a, b) for a, b in itertools.product(x, y)])


@case((normal(4, 5),))
def pairs(x):
    total = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        total = total + (x[i] - x[j]).abs().sum()
    return total


@case((normal(4, 5),))
def ordered_pairs(x):
    total = torch.zeros(())
    for i, j in itertools.permutations(range(len(x)), 2):
        total = total + (x[i] * (j + 1) - x[j]).sum()
    return total


@case((normal(6, 8),))
def flat(x):
    h, w = x.shape
    out = torch.zeros(h, w)
    for k in range(h * w):
        i, j = divmod(k, w)
        out[i, j] = x[i, j] ** 2 + k
    return out


@case((normal(5, 3),), (normal(1, 3),))
def growing_from_nothing(a):
    acc = torch.tensor([])
    for row in a:
        acc = torch.cat((acc, torch.diag(row)), dim=0)
    return acc


@case((normal(5, 3),))
def growing_columns(a):
    acc = a[0][:, None]
    for i in range(1, 5):
        acc = torch.cat([acc, a[i][:, None] * 2], dim=1)
    return acc


@case((normal_array(5, 3),), grad=False)
def growing_array(a):
    acc = np.zeros((0, 3))
    for i in range(5):
        acc = np.vstack([acc, a[i] * 2])
    return acc


@pytest.mark.parametrize(("loop", "calls", "gradients"), CASES, ids=[function.__name__ for function, _, _ in CASES])
def test_the_lanes_do_what_the_loop_does(loop, calls, gradients):
    check(loop, *calls, gradients=gradients)
