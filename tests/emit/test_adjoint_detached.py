"""Values that are cut from their history, in kernels."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def filled(x, w):
    for i in range(len(x)):
        x[i] = w[0].detach()
    return x


def shifted(x, w):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * 0.5 + w[i].detach()
    return x


def scaled(x, w):
    factor = w.sum()
    for i in range(len(x)):
        x[i] = factor.detach()
    return x


@pytest.mark.parametrize("program", [filled, shifted, scaled], ids=lambda p: p.__name__)
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("backend", ["native", "auto"])
def test_what_is_detached_hands_on_no_gradient(program, asks, backend):
    def outcome(function):
        x, w = torch.arange(1.0, 5.0).requires_grad_(asks), torch.tensor([0.25, 0.5, 0.75, 1.0]).requires_grad_()
        result = function(x * 1, w)
        if not result.requires_grad:
            return result, None
        return result.detach(), torch.autograd.grad(result.sum(), [x, w], allow_unused=True)

    lifted = lift(program, verify="off", backend=backend)
    for _ in range(2):
        (got, gradients), (wanted, expected) = outcome(lifted), outcome(program)
        assert torch.equal(got, wanted) and not got.requires_grad
        assert (gradients is None) == (expected is None)
        for ours, theirs in zip(gradients or (), expected or (), strict=True):
            assert (ours is None) == (theirs is None)
            assert ours is None or torch.equal(ours, theirs)
