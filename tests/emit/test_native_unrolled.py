"""Short loops inside of others, whose iterations are written out by the compiler."""

import numpy as np
import pytest

from looplift import lift

PRAGMA = "#pragma GCC unroll"


def neighbours(grid):
    n, m = grid.shape
    out = np.zeros_like(grid)
    for i in range(n):
        for j in range(m):
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        out[i, j] += grid[(i + di) % n, (j + dj) % m]
    return out


def many_steps(grid):
    out = np.zeros_like(grid)
    for i in range(grid.shape[0]):
        for k in range(20):
            out[i, 0] = out[i, 0] * 2 % 7 + grid[i, 0] + k
    return out


def some_of_many(grid):
    out = np.zeros_like(grid)
    for i in range(grid.shape[0]):
        for side in range(2):
            for j in range(grid.shape[1]):
                out[i, j] += grid[i, j] * side
    return out


def once_for_all(grid):
    out = np.zeros_like(grid)
    for k in range(3):
        out[0, 0] = out[0, 0] * 2 + grid[0, 0] + k
    return out


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 3), (5, 4)])
@pytest.mark.parametrize(
    "function, count",
    [(neighbours, 2), (many_steps, 0), (some_of_many, 0), (once_for_all, 0)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_the_few_iterations_of_loops_inside_of_others_are_written_out(function, count, shape):
    grid = np.random.default_rng(0).integers(0, 5, shape)
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        np.testing.assert_array_equal(lifted(grid), function(grid))
    assert lifted.source.count(PRAGMA) == count
