"""Arrays that programs make of lists of arrays: ``np.array([force(p) for p in points])``, ``np.stack(rows)``."""

import numpy as np
import pytest

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Cell:
    def __init__(self, centre, half, children):
        self.centre, self.half, self.children = centre, half, children


def grown(rng, depth, half):
    children = None if depth == 0 else [grown(rng, depth - 1, half / 2) for _ in range(3)]
    return Cell(rng.normal(size=2), half, children)


def force(point, root):
    total = np.zeros(2)
    stack = [root]
    while stack:
        cell = stack.pop()
        d = cell.centre - point
        r = np.sqrt(np.sum(d**2) + 0.01)
        if cell.children is None or cell.half / r < 0.6:
            total += d / r**3
        else:
            stack.extend(cell.children)
    return total


def forces(points, root):
    return np.array([force(points[i], root) for i in range(len(points))])


def forces_narrow(points, root):
    return np.asarray([force(points[i], root) for i in range(len(points))], dtype=np.float32)


def forces_stacked(points, root):
    return np.stack([force(points[i], root) for i in range(len(points))])


def two_forces(points, root):
    found = []
    for i in range(len(points)):
        found.append(np.array([force(points[i], root), points[i]]))
    return np.stack(found, axis=0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [forces, forces_narrow, forces_stacked, two_forces])
def test_arrays_of_rows(function, backend):
    rng = np.random.default_rng(0)
    lifted = lift(function, backend=backend)
    root = grown(rng, 3, 2.0)
    for count in (6, 1, 9, 9):
        points = rng.normal(size=(count, 2))
        got, want = lifted(points, root), function(points, root)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-12 if want.dtype == np.float64 else 1e-6)
    if backend != "torch":
        assert lifted.report().loops[0].decision == "native"


def test_of_no_rows():
    rng = np.random.default_rng(0)
    root = grown(rng, 1, 2.0)
    lifted = lift(forces, backend="native")
    for points in (rng.normal(size=(2, 2)), np.zeros((0, 2))):
        got, want = lifted(points, root), forces(points, root)
        assert got.shape == want.shape and got.dtype == want.dtype
    with pytest.raises(ValueError, match="need at least one array"):
        lift(forces_stacked, backend="native")(np.zeros((0, 2)), root)


def cut(rows, lengths):
    found, total = [rows[k, : lengths[k]] * 2.0 for k in range(len(lengths))], {}
    for k, n in enumerate(lengths):
        total[k] = n
    return np.array(found), total


def test_rows_of_several_lengths_are_no_array():
    rows = np.arange(12.0).reshape(3, 4)
    lifted = lift(cut, backend="native")
    for lengths in ([2, 2, 2], [3, 3, 3]):
        got, want = lifted(rows, lengths), cut(rows, lengths)
        assert got[0].tolist() == want[0].tolist() and got[1] == want[1]
    with pytest.raises(ValueError, match="inhomogeneous"):
        lifted(rows, [1, 2, 3])
