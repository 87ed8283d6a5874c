"""``a, b = map(f, (x, y))`` and generators that are unpacked, in loops: lanes, kernels and programs."""

import math
from math import cos, radians, sin

import numpy as np
import pytest
import torch

import looplift


def haversine(lon1, lat1, lon2, lat2):
    lon1, lat1, lon2, lat2 = map(radians, [lon1, lat1, lon2, lat2])
    a = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(a))


def distances(P, Q):
    D = np.zeros((len(P), len(Q)))
    for i in range(len(P)):
        for j in range(len(Q)):
            D[i, j] = haversine(P[i, 0], P[i, 1], Q[j, 0], Q[j, 1])
    return D


def distances_of_lists(P, Q):
    return [[haversine(*p, *q) for q in Q] for p in P]


def halves(x, k):
    out = []
    for row in x:
        a, b = map(lambda v: v * k, (row[0], row[1]))
        c, d = (torch.tanh(v) for v in (a, b))
        out.append(a * c + b * d)
    return torch.stack(out)


def wrong_count(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a, b = map(float, x[i])
        out[i] = a - b
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_arrays(backend):
    P, Q = (np.random.default_rng(s).uniform(-80, 80, (n, 2)) for s, n in ((0, 6), (1, 5)))
    lifted = looplift.lift(distances, backend=backend, verify="off")
    assert np.allclose(lifted(P, Q), distances(P, Q), rtol=1e-12)
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


def test_lists():
    P, Q = (np.random.default_rng(s).uniform(-80, 80, (n, 2)).tolist() for s, n in ((0, 6), (1, 5)))
    lifted = looplift.lift(distances_of_lists, verify="off")
    assert np.allclose(lifted(P, Q), distances_of_lists(P, Q), rtol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_gradients(backend):
    x = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    lifted = looplift.lift(halves, backend=backend, verify="off")
    assert torch.allclose(lifted(x, 0.5), halves(x, 0.5))
    (mine,) = torch.autograd.grad(lifted(x, 0.5).sum(), x)
    (theirs,) = torch.autograd.grad(halves(x, 0.5).sum(), x)
    assert torch.allclose(mine, theirs)
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_as_many_items_as_names(width):
    x = np.arange(4.0 * width).reshape(4, width)
    lifted = looplift.lift(wrong_count, verify="off")
    if width == 2:
        assert np.array_equal(lifted(x), wrong_count(x))
        return
    with pytest.raises(ValueError, match="unpack") as theirs:
        wrong_count(x)
    with pytest.raises(ValueError, match="unpack") as mine:
        lifted(x)
    assert str(mine.value) == str(theirs.value)
