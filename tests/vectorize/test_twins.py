"""Functions of ``math`` and ``bin(...).count("1")``, by functions of the same values."""

import itertools
import math

import numpy as np
import pytest
import torch

import looplift
from looplift.ops import twins

FLOATS = [0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-8, -1.0, 1e-12, 1e308, -1e308, math.inf, -math.inf, math.nan, 3, True]
INTEGERS = [0, 1, 2, 3, 7, 12, 20, True]


@pytest.mark.parametrize(
    "tolerances", [{}, {"rel_tol": 10.0}, {"abs_tol": 0.5}, {"rel_tol": 0.3}, {"rel_tol": 0.0, "abs_tol": 1e-9}]
)
def test_isclose(tolerances):
    for a, b in itertools.product(FLOATS, repeat=2):
        assert twins.isclose(a, b, **tolerances) is math.isclose(a, b, **tolerances), (a, b)


@pytest.mark.parametrize("name", ["comb", "perm", "lcm"])
def test_integers(name):
    for a, b in itertools.product(INTEGERS, repeat=2):
        mine, theirs = getattr(twins, name)(a, b), getattr(math, name)(a, b)
        assert mine == theirs and type(mine) is type(theirs), (a, b)
    with pytest.raises(TypeError):
        getattr(twins, name)(5.0, 2)


def test_ones():
    for number in (*range(-70, 70), 2**40 - 1, np.int64(11), True):
        assert twins.ones(number) == bin(number).count("1")
    with pytest.raises(TypeError):
        twins.ones(3.0)


def hamming(a, b):
    d = np.zeros((len(a), len(b)), dtype=int)
    for i in range(len(a)):
        for j in range(len(b)):
            d[i, j] = bin(a[i] ^ b[j]).count("1")
    return d


def shortest_tour(D):
    n = len(D)
    best = [[float("inf")] * n for _ in range(1 << n)]
    best[1][0] = 0.0
    for mask in range(1 << n):
        if bin(mask).count("1") < 1:
            continue
        for u in range(n):
            for v in range(n):
                if mask >> u & 1 and not mask >> v & 1:
                    best[mask | 1 << v][v] = min(best[mask | 1 << v][v], best[mask][u] + D[u][v])
    return min(best[-1])


def bernstein(x):
    out = []
    for v in x:
        total = 0.0
        for i in range(4):
            total += math.comb(3, i) * v**i * (1 - v) ** (3 - i) * (i + 1)
        out.append(total)
    return out


def roots(t):
    out = torch.zeros(len(t))
    for i in range(len(t)):
        v = t[i]
        k = 0
        while not math.isclose(v * v, 2.0, rel_tol=1e-5) and k < 50:
            v = (v + 2 / v) / 2
            k += 1
        out[i] = v
    return out


CASES = [
    (hamming, np.arange(-20, 20), np.arange(7, 30, 3)),
    (hamming, list(range(-20, 20)), list(range(7, 30, 3))),
    (shortest_tour, np.random.default_rng(0).uniform(size=(6, 6)).tolist()),
    (bernstein, np.linspace(0, 1, 9).tolist()),
    (roots, torch.linspace(0.1, 4, 30)),
]


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_in_loops(case, backend):
    function, *arguments = case
    lifted = looplift.lift(function, backend=backend, verify="off")
    want, got = function(*arguments), lifted(*arguments)
    assert type(got) is type(want)
    assert np.allclose(np.asarray(got), np.asarray(want), rtol=1e-12 if function is not roots else 1e-6)
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


def by_place(x):
    out = []
    for v in x:
        out.append(math.isclose(v, 1.0, 0.1))
    return out


def test_what_takes_no_more_by_place_raises_as_in_the_loop():
    with pytest.raises(TypeError, match="positional") as theirs:
        by_place([1.0, 2.0])
    with pytest.raises(TypeError, match="positional") as mine:
        looplift.lift(by_place, verify="off")([1.0, 2.0])
    assert str(mine.value) == str(theirs.value)
