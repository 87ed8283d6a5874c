"""Modes of torch that change what a loop does: tangents, and tensors that were made for inference."""

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

from looplift import lift
from looplift.runtime.guards import may_call_torch

X = torch.arange(1.0, 6.0)


def energy(x):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + x[i] * x[i]
    return total


def running(x, out):
    for i in range(1, len(x)):
        out[i] = x[i] * 2 + out[i - 1] * x[i - 1]
    return out


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_tangents_take_part(backend):
    lifted = lift(energy, backend=backend, verify="off")
    for x in (X, X * 2):
        lifted(x)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, torch.ones(5))
            found, wanted = (forward_ad.unpack_dual(function(dual)) for function in (lifted, energy))
            assert torch.equal(found.primal, wanted.primal)
            assert found.tangent is not None and torch.equal(found.tangent, wanted.tangent)


def test_a_tensor_of_inference_mode_stays_as_it_is_outside():
    with torch.inference_mode():
        out = torch.zeros(5)
    for first in (X * 0, None):
        lifted = lift(running, backend="native", verify="off")
        if first is not None:
            lifted(X, first)
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            lifted(X, out)


def array_sum(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * 2
    return total


def halves(x):
    total = 0.0
    for i in range(len(x)):
        total = total + to_half(x[i])
    return total


def to_half(value):
    return torch.as_tensor(value).to(torch.get_default_dtype()).item() / 2


@pytest.mark.parametrize("function", [array_sum, halves])
def test_loops_that_may_call_torch_look_at_its_modes(function):
    lifted, x = lift(function), np.linspace(0, 1, 9)
    for _ in range(3):
        assert lifted(x) == function(x)
    with torch.no_grad():
        assert lifted(x) == function(x)
    torch.set_default_dtype(torch.float64)
    try:
        assert lifted(x) == function(x)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("value", "may"),
    [
        (np.ones(2), False), (np.float32(1), False), (3, False), (range, False), (np, False), (None, False),
        (np.array([X, None], dtype=object), True), ([X], True), (X, True), (torch, True), (to_half, True),
        (type("Number", (int,), {})(3), True), (torch.float32, True), ({}, True),
    ],
)  # fmt: skip
def test_what_may_call_torch(value, may):
    assert may_call_torch({"x": 1, "value": value}) is may
