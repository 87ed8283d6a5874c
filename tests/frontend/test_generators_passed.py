"""Generators that are arguments: one or several, and those that functions draw from by the same name."""

import random

import numpy as np
import pytest

from looplift import lift

rng = random.Random(8)


def drawn():
    return rng.random()


def of_two(n, first, second):
    total = 0.0
    for _ in range(n):
        if first.random() < 0.5:
            total += second.random()
        else:
            total += first.gauss(0, 1)
    return total


def of_numpy(n, first, second):
    total = 0.0
    for _ in range(n):
        if first.rand() < 0.5:
            total += second.rand()
        else:
            total += first.normal()
    return total


def of_the_library(n, first, second):
    total = 0.0
    for _ in range(n):
        if first.random() < 0.5:
            total += random.random()
    return total


def of_a_function(n, rng, second):
    total = 0.0
    for _ in range(n):
        if drawn() < 0.5:
            total += rng.random()
    return total


LIBRARY = random.random.__self__


def two(make):
    return lambda: (make(1), make(2))


def twice(make):
    return lambda: (make(3),) * 2


PYTHON, NUMPY = random.Random, np.random.RandomState
CASES = [
    (of_two, [two(PYTHON), twice(PYTHON), lambda: (random, LIBRARY), lambda: (PYTHON(1), random)]),
    (of_numpy, [two(NUMPY), twice(NUMPY), lambda: (np.random, np.random.rand.__self__)]),
    (of_the_library, [two(PYTHON), lambda: (LIBRARY, None)]),
    (of_a_function, [lambda: (rng, None), two(PYTHON)]),
]


@pytest.mark.parametrize(("fn", "calls"), CASES)
@pytest.mark.parametrize("turned", [False, True])
def test_generators_may_be_one(fn, calls, turned):
    lifted = lift(fn, verify="off")

    def seen(call, given):
        random.seed(1)
        np.random.seed(1)
        rng.seed(8)
        arguments = given()
        return call(30, *arguments), [one.random() for one in (*arguments, random, np.random, rng) if one is not None]

    for given in [*(calls[::-1] if turned else calls)] * 2:
        assert seen(lifted, given) == seen(fn, given)
