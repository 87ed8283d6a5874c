"""Functions that return dicts of the same keys at several places, in loops."""

import math

import numpy as np
import pytest
import torch

import looplift


def greeks(x):
    if x <= 0:
        return {"price": 0.0, "delta": 0.0}
    if x > 2:
        return {"price": 1.0, "delta": -1.0}
    return {"price": math.erf(x), "delta": x}


def table(xs):
    out = np.zeros((len(xs), 2))
    total = 0.0
    for i in range(len(xs)):
        g = greeks(xs[i])
        out[i, 0] = g["price"]
        out[i, 1] = g["delta"]
        g["price"] = 3.0
        total += g["price"] * len(g)
    return out, total


def moments(x):
    if x.sum() > 0:
        return {"m": x.mean(), "s": x.std()}
    return {"m": x.min(), "s": x.max()}


def described(X):
    out = []
    for x in X:
        r = moments(x)
        out.append(r["m"] * 2 + r["s"])
    return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_numbers(backend):
    xs = np.random.default_rng(0).normal(size=40) * 2
    lifted = looplift.lift(table, backend=backend, verify="off")
    (got, total), (want, wanted) = lifted(xs), table(xs)
    assert np.allclose(got, want, rtol=1e-13) and total == wanted
    assert lifted.report().loops[0].decision != "kept"


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_gradients(backend):
    X = torch.randn(20, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    lifted = looplift.lift(described, backend=backend, verify="off")
    got, want = (torch.autograd.grad(call(X).sum(), X)[0] for call in (lifted, described))
    assert torch.allclose(got, want) and torch.allclose(lifted(X), described(X))
