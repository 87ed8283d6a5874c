"""A kernel that is made for short rows is not left with long ones, where a library is faster."""

import numpy as np

from looplift import lift


def scaled(matrix, a, rounds):
    u, v = np.ones(len(a)), np.ones(matrix.shape[1])
    for _ in range(rounds):
        for i in range(len(a)):
            u[i] = a[i] / np.dot(matrix[i], v)
        for j in range(matrix.shape[1]):
            v[j] = 1 / np.dot(matrix[:, j], u)
    return u[:, None] * matrix * v[None, :]


def decisions_after(*sizes):
    lifted = lift(scaled, verify="off")
    for size in sizes:
        matrix = np.random.default_rng(size).random((size, size + 1)) + 0.5
        given = matrix, np.ones(size), 3
        np.testing.assert_allclose(lifted(*given), scaled(*given), rtol=1e-12)
    return [loop.decision for loop in lifted.report().loops]


def test_long_rows_after_short_ones_have_a_form_of_their_own():
    assert decisions_after(4) == ["native"] * 3
    assert decisions_after(4, 300) == decisions_after(300) == ["sequential", "lanes", "lanes"]
    assert decisions_after(4, 300, 5) == ["sequential", "lanes", "lanes"]
