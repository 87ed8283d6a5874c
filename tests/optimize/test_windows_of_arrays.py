"""Sums over windows of NumPy's arrays are no convolutions of PyTorch's."""

import numpy as np
import pytest

import looplift


def convolved(x, w):
    N, _, H, W = x.shape
    F, _, HH, WW = w.shape
    out = np.zeros((N, F, H - HH + 1, W - WW + 1))
    for n in range(N):
        for f in range(F):
            for i in range(H - HH + 1):
                for j in range(W - WW + 1):
                    out[n, f, i, j] = np.sum(x[n, :, i : i + HH, j : j + WW] * w[f])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_forward_pass_of_an_exercise(backend):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 6, 7)), rng.normal(size=(4, 3, 3, 2))
    lifted = looplift.lift(convolved, backend=backend, verify="off")
    assert np.allclose(lifted(x, w), convolved(x, w))
    assert {loop.decision for loop in lifted.report().loops} == {"native" if backend != "torch" else "lanes"}
