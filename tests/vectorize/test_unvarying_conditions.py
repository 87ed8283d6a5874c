"""``if flag and v > best``: a condition that is the same in all iterations of the loop is asked all the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends


def only_of_many(x, n):
    best, place = torch.tensor(-1.0), -1
    for j in range(x.shape[1]):
        if n > 2 and x[0, j] > best:
            best, place = x[0, j], j
    return best * 2, place


def per_row(x, flags):
    least, places = torch.zeros(x.shape[0]), torch.zeros(x.shape[0], dtype=torch.int64)
    for i in range(x.shape[0]):
        low, place = 0.5, 7
        for j in range(x.shape[1]):
            if flags[i] and x[i, j] <= low:
                low, place = x[i, j], j
        least[i], places[i] = low, place
    return least, places


def running(x, flags):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        best = torch.tensor(0.25)
        for j in range(x.shape[1]):
            if flags[i] and x[i, j] >= best:
                best = x[i, j]
            out[i, j] = best
    return out


def of_two_conditions(x, flags):
    places = []
    for i in range(x.shape[0]):
        best, place = -1.0, -1
        for j in range(x.shape[1]):
            if flags[i] and i != 1 and x[i, j] < 0.9 and x[i, j] > best:
                best, place = x[i, j], j
        places.append(place)
    return places


def of_numbers(x, flags):
    places = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        best = 0.0
        for j in range(x.shape[1]):
            if flags[i] and x[i, j] > best:
                best = x[i, j]
                places[i] = j + 1
    return places


@pytest.mark.parametrize("function", [per_row, running, of_two_conditions])
def test_conditions_of_rows(function):
    calls = [[torch.rand(n, 5), torch.arange(n) % 2 == odd] for n, odd in ((4, 0), (3, 1), (2, 0))]
    check_backends(function, *calls, gradients=True, kept={"torch"})


@pytest.mark.parametrize("n", [2, 3])
def test_a_condition_of_the_whole_loop(n):
    check_backends(only_of_many, [torch.rand(2, 6), n], gradients=n > 2)


def test_conditions_of_numpy():
    x = np.random.default_rng(0).random((4, 5))
    check_backends(of_numbers, [x, np.array([True, False, False, True])], [x, np.zeros(4, bool)], kept={"torch"})
