"""Views that loops run through: what they show may have been stored before, or be stored to after the loop."""

from __future__ import annotations

import numpy as np
import pytest

from looplift import lift


def copy_then_diag(mats):
    out = []
    for C in mats:
        A = C.copy()
        for k in range(1, len(A)):
            A[k, k] += A[k - 1, k - 1]
        w = np.diag(A)
        L = np.zeros_like(C)
        for k, lam in enumerate(w):
            L += np.log(lam) * np.outer(C[:, k], C[:, k])
        out.append(L)
    return np.stack(out)


def seen_changing(mats):
    out = []
    for C in mats:
        A = C.copy()
        A[0, 0] = 2
        w = A[0]
        s = 0.0
        for k, lam in enumerate(w):
            s += lam * k
            A[0, (k + 1) % 3] += lam
        out.append(s)
    return np.stack(out)


def changed_after(mats):
    out = []
    for C in mats:
        A = C.copy()
        A[0, 0] = 2
        w = A[:, 1]
        L = np.zeros(len(C))
        for k, lam in enumerate(w):
            L += np.log(lam + 1) * C[k]
        A[1, 1] = 7
        out.append(L + A[1])
    return np.stack(out)


def changed_between(mats):
    out = []
    for C in mats:
        A = C.copy()
        w = A[:, 1]
        A[1, 1] = 7
        L = np.zeros(len(C))
        for k, lam in enumerate(w):
            L += np.log(lam + 1) * C[k]
        out.append(L + A[1])
    return np.stack(out)


def again(mats):
    out = []
    for C in mats:
        A = C.copy()
        w = A[:, 1]
        L = np.zeros(len(C))
        for t in range(3):
            for k, lam in enumerate(w):
                L += np.log(lam + 1) * C[k]
            A[t, 1] += 1
        out.append(L)
    return np.stack(out)


FUNCTIONS = (copy_then_diag, seen_changing, changed_after, changed_between, again)


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_the_loop(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(2):
        given, mine = (np.random.default_rng(seed).random((5, 3, 3)) for _ in range(2))
        np.testing.assert_allclose(lifted(mine), function(given), rtol=1e-12)
        np.testing.assert_array_equal(mine, given)
    if backend == "torch" and function in (copy_then_diag, changed_after):
        assert "kept" not in {loop.decision for loop in lifted.report().loops}
