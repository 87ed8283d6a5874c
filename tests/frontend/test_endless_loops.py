"""Functions whose last statement is a loop without an end, which is left by ``return`` alone."""

from __future__ import annotations

import numpy as np
import pytest

from looplift import lift


def next_prime(n):
    while True:
        n += 1
        k = 2
        while k * k <= n and n % k != 0:
            k += 1
        if k * k > n:
            return n


def rotations(n):
    """The greatest number of flips of a permutation, over the first ones that rotations of their fronts make."""
    order, counts, most = list(range(n)), list(range(n)), 0
    while True:
        flips, front = 0, order[:]
        while front[0] != 0:
            k = front[0]
            for i in range((k + 1) // 2):
                front[i], front[k - i] = front[k - i], front[i]
            flips += 1
        most = max(most, flips)
        for i in range(1, n):
            first = order[0]
            for j in range(i):
                order[j] = order[j + 1]
            order[i] = first
            counts[i] -= 1
            if counts[i] >= 0:
                break
            counts[i] = i
            if i == n - 1:
                return most, order


def first_above(x, limit):
    i = 0
    while True:
        if x[i] > limit:
            return i, x[i]
        i += 1


def seen(function, *arguments):
    try:
        return repr(function(*arguments))
    except IndexError as error:
        return repr(error)


CALLS = [(next_prime, (n,)) for n in (1, 7, 89, 113)]
CALLS += [(rotations, (n,)) for n in (2, 3, 5)]
CALLS += [(first_above, (np.array([0.5, 1.5, 0.2, 3.0]), limit)) for limit in (0.0, 1.0, 2.0, 9.0)]


@pytest.mark.parametrize("backend", ("auto", "native"))
@pytest.mark.parametrize("function, arguments", CALLS)
def test_as_the_loop(function, arguments, backend):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert seen(lifted, *arguments) == seen(function, *arguments)
    assert "KeyError" not in str(lifted.report())
