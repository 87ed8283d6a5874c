"""Loops with products of a small matrix and rows are compiled."""

import numpy as np
import pytest

from looplift import lift


def rotated_pairs(a):
    for i in range(len(a) - 1, 0, -1):
        first, second = a[i - 1, 0], a[i, 0]
        length = np.hypot(first, second)
        cosine, sine = first / length, second / length
        rotation = np.array([[cosine, sine], [-sine, cosine]])
        a[[i - 1, i]] = rotation @ a[[i - 1, i]]
    return a


def rotated_slices(a):
    for i in range(len(a) - 1, 0, -1):
        first, second = a[i - 1, 0], a[i, 0]
        length = np.hypot(first, second)
        rotation = np.array([[first / length, second / length], [-second / length, first / length]])
        a[i - 1 : i + 1] = rotation @ a[i - 1 : i + 1]
    return a


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [rotated_pairs, rotated_slices])
def test_rotations_are_those_of_the_loop(function, backend):
    lifted = lift(function, backend=backend)
    for rows, columns in ((9, 9), (9, 70), (2, 1), (1, 4), (9, 9)):
        given = np.random.rand(rows, columns)
        expected = function(given.copy())
        assert np.allclose(lifted(given), expected, rtol=1e-12, atol=1e-14)
        assert np.allclose(given, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("function", [rotated_pairs, rotated_slices])
def test_rotations_are_compiled(function):
    lifted = lift(function)
    lifted(np.random.rand(40, 40))
    assert [loop.decision for loop in lifted.report().loops] == ["native"]
