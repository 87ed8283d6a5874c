"""Lists of numbers that NumPy's functions are given: it makes arrays of them."""

import numpy as np
import pytest

import looplift


def radians(P):
    out = np.zeros((len(P), 2))
    for i in range(len(P)):
        out[i] = np.radians([P[i, 0], P[i, 1] + 90])
    return out


def dots(P):
    out = np.zeros(len(P))
    for i in range(len(P)):
        out[i] = np.dot([P[i, 0], P[i, 1]], (1.0, 2.0)) + np.median([P[i, 0], 0.5, P[i, 1]])
    return out


def added(P):
    out = []
    for p in P:
        out.append(np.add([p[0], 1], p) * np.sign((p[1], -2)))
    return np.array(out)


def crossed(P):
    out = np.zeros((len(P), 3))
    for i in range(len(P)):
        out[i] = np.cross([P[i, 0], P[i, 1], 0.0], [0.0, 0.0, 1.0])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [radians, dots, added, crossed])
def test_they_are_arrays(function, backend):
    P = np.random.default_rng(0).normal(size=(9, 2))
    P[3] = np.nan
    lifted = looplift.lift(function, backend=backend, verify="off")
    for part in (P, P[:1]):
        want, got = function(part), lifted(part)
        assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-12, equal_nan=True)
    if backend != "native":
        assert all(loop.decision != "kept" for loop in lifted.report().loops)


def words(P):
    out = []
    for i in range(len(P)):
        out.append(np.add(["a", "b"], [P[i, 0], 1]))
    return out


def test_what_is_no_number_raises_as_in_the_loop():
    P = np.ones((3, 2))
    with pytest.raises(Exception, match="ufunc") as theirs:
        words(P)
    with pytest.raises(type(theirs.value)) as mine:
        looplift.lift(words, verify="off")(P)
    assert str(mine.value) == str(theirs.value)
