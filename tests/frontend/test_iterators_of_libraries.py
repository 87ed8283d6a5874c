"""Loops over iterators of itertools. The loop is the oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.frontend.oracle import check

from looplift import lift

X = np.arange(24.0).reshape(8, 3)
V = np.arange(10.0)


def chain(a, b):
    return [float(v * 2) for v in itertools.chain(a, b[:, 0], b[0])]


def chain_empty(a, b):
    return [v * 2 for v in itertools.chain(a, b)] + [v for v in itertools.chain(b, b)]


def chain_mixed(a, b):
    return [v * 2 for v in itertools.chain(a, b)]


def islice(a, n):
    first, rest = [v for v in itertools.islice(a, n)], [v for v in itertools.islice(a, 1, None)]
    return first, rest, [v for v in itertools.islice(a, 0, 9, 3)]


def islice_neg(a, n):
    return [v for v in itertools.islice(a, n)]


def islice_iter(a, n):
    it = iter(a)
    return [v for v in itertools.islice(it, n)], [v for v in itertools.islice(it, n)]


def zl(a, b):
    return [x * y for x, y in itertools.zip_longest(a, b, fillvalue=1)]


def zl_none(a, b):
    return [x if y is None else x * y for x, y in itertools.zip_longest(a, b)]


def zl_b(a, b):
    t = 0
    for k, (x, y) in enumerate(itertools.zip_longest(a, b, fillvalue=0)):
        t += k * x - y
    return t


def comb3(x):
    return [float(x[i, 0] * x[j, 1] - x[k, 2]) for i, j, k in itertools.combinations(range(len(x)), 3)]


def perm3(x):
    s = 0.0
    for a, b, c in itertools.permutations(x, 3):
        s += a[0] * b[1] * c[2]
    return s


def cwr3(x):
    n = 0
    for a, b, c in itertools.combinations_with_replacement(range(4), 3):
        n += a + 10 * b + 100 * c
    return n


def prodrep(x):
    three = [a * 100 + b * 10 + c for a, b, c in itertools.product(range(3), repeat=3)]
    return three, [u * v for u, v in itertools.product([1, 2], repeat=2)]


CASES = [
    (
        chain,
        (
            V,
            X,
        ),
    ),
    (
        chain_empty,
        (
            [1, 2],
            [],
        ),
    ),
    (
        chain_mixed,
        (
            [1, 2],
            [1.5],
        ),
    ),
    (
        islice,
        (
            [1, 2, 3, 4],
            2,
        ),
    ),
    (
        islice_neg,
        (
            [1, 2, 3, 4],
            -2,
        ),
    ),
    (
        islice_iter,
        (
            [1, 2, 3, 4],
            2,
        ),
    ),
    (
        zl,
        (
            [1, 2, 3, 4],
            [5, 6],
        ),
    ),
    (
        zl_none,
        (
            [1, 2, 3, 4],
            [5, 6],
        ),
    ),
    (
        zl_b,
        (
            [1, 2],
            [5, 6, 7, 8],
        ),
    ),
    (comb3, (X,)),
    (perm3, (X,)),
    (cwr3, (X,)),
    (prodrep, (X,)),
]
KEPT = frozenset("""chain_empty islice_neg islice_iter""".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)


def strictly(a, b):
    return [x * y for x, y in zip(a, b[:, 0], strict=True)]


def not_strictly(a, b):
    return [x * y for x, y in zip(a, b[:, 0], strict=False)]


@pytest.mark.parametrize("function", [strictly, not_strictly])
def test_zip_takes_strict(function):
    check(function, (V[:8], X))
    check(not_strictly, (V, X))


def test_zip_raises_of_different_lengths():
    with pytest.raises(ValueError, match="zip"):
        lift(strictly)(V, X)
