"""Conditions in loops that arguments alone decide, where their sides give values of different kinds."""

import numpy as np
import pytest
import torch

from looplift import lift


def inverted_or_solved(matrices, right, rows, columns):
    total = np.zeros((rows, columns))
    for matrix in matrices:
        if rows == columns:
            found = np.linalg.inv(matrix)
        else:
            found = np.linalg.solve(matrix, right)
        total += found
    return total


def by_word(x, kind, power):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        if kind > 1 and not power == 0:
            part = x[i]
        else:
            part = x[i].sum()
        out[i] = (part * part).sum() * power
    return out


def flags(x, first):
    out = []
    for row in x:
        if first:
            part = row[:2]
        else:
            part = row
        for k in range(2):
            part = part * 2 if k == 1 else part + 1
        out.append(part.sum())
    return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_sides_of_other_shapes(backend):
    lifted = lift(inverted_or_solved, backend=backend)
    for columns in (2, 2, 4, 2, 4, 3):
        matrices, right = np.random.rand(9, 4, 4) + 4 * np.eye(4), np.random.rand(4, columns)
        expected = inverted_or_solved(matrices, right, 4, columns)
        assert np.allclose(lifted(matrices, right, 4, columns), expected, rtol=1e-10, atol=1e-12)
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("begin", [1, 2])
def test_values_and_gradients(begin, backend):
    lifted = lift(by_word, backend=backend)
    for kind, power in ((begin, 3), (begin, 3), (3 - begin, 2), (2, 0), (begin, 1)):
        x = torch.rand(7, 3, dtype=torch.float64, requires_grad=True)
        expected, found = by_word(x, kind, power), lifted(x, kind, power)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        (wanted,) = torch.autograd.grad(expected.square().sum(), x)
        (slope,) = torch.autograd.grad(found.square().sum(), x)
        torch.testing.assert_close(slope, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_flags(backend):
    lifted = lift(flags, backend=backend)
    for first in (True, True, False, True, False):
        x = torch.rand(6, 5, dtype=torch.float64)
        torch.testing.assert_close(lifted(x, first), flags(x, first), rtol=1e-12, atol=1e-12)


def test_what_the_other_side_raises_is_the_loops():
    lifted = lift(inverted_or_solved)
    matrices = np.random.rand(5, 4, 4) + 4 * np.eye(4)
    lifted(matrices, np.random.rand(4, 2), 4, 2)
    with pytest.raises(np.linalg.LinAlgError):
        lifted(np.zeros((5, 4, 4)), np.random.rand(4, 4), 4, 4)
    with pytest.raises(ValueError):
        lifted(np.zeros((5, 4, 3)), np.random.rand(4, 2), 4, 2)
