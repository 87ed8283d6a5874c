"""Numbers of NumPy beside tensors: zeros of two signs are equal, and are not one value."""

import decimal

import numpy as np
import pytest
import torch

from looplift import lift


class Leaf:
    def __init__(self, x, number):
        self.x, self.number = x, number


def walked(leaf):
    return torch.tanh(leaf.x)


def signed(leaves):
    return [torch.copysign(walked(leaf), float(leaf.number)) for leaf in leaves]


def signed_as_they_are(leaves):
    out = []
    for leaf in leaves:
        out.append(torch.copysign(walked(leaf), leaf.number))
    return out


KINDS = [float, np.float64, np.float32, np.float16]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [signed, signed_as_they_are])
def test_zeros_of_both_signs(function, kind, backend):
    lifted = lift(function, backend=backend, verify="off")
    for numbers in ([-0.0, 0.0, -0.0, 1.0], [0.0, -0.0, 0.0, 0.0]):
        leaves = [Leaf(torch.ones(2) * (k + 1), kind(number)) for k, number in enumerate(numbers)]
        torch.testing.assert_close(lifted(leaves), function(leaves))


def test_other_numbers_stay_apart():
    lifted = lift(signed, backend="torch", verify="off")
    leaves = [Leaf(torch.ones(2), decimal.Decimal(text)) for text in ("0", "-0", "1", "-0.0")]
    torch.testing.assert_close(lifted(leaves), signed(leaves))
