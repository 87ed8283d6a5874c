"""The largest and smallest elements along a dimension where zeros of both signs are among them: the first ones."""

import pytest
import torch
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import assert_same, first

from looplift import lift

__all__ = ["first"]


def along(x, labels):
    found = {}
    for k in range(len(labels)):
        low, high = x[k].min(dim=0), torch.max(x, 1)
        most = x[k].max(0)[0]
        found[labels[k]] = (1 / low.values, low.indices, 1 / high[0], high[1], 1 / most, x[k].argmax())
    return found


def over_all(x, labels):
    found = {}
    for k in range(len(labels)):
        found[labels[k]] = 1.0 / x[k].max()
    return found


def zeros(dtype, asks, width=4):
    rows = [[0.0, -0.0, -0.0, 0.0], [-0.0, 0.0, -1.0, 0.0], [-0.0, 0.0, -0.0, 1.0]]
    rows = [(row * 5)[:width] for row in rows]
    return torch.tensor(rows, dtype=dtype).requires_grad_(asks)


@pytest.mark.parametrize("width", [1, 2, 4, 19])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("asks", [True, False])
def test_extremes_along_a_dimension(asks, dtype, width, first):
    runs_as_program(along, lambda: zeros(dtype, asks, width), lambda: ["a", "b", "c"])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [along, over_all])
def test_on_backends(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for width in (4, 19, 2):
        x = zeros(torch.float32, False, width)
        for labels in ([], ["a"], ["a", "b", "a"]):
            assert_same(lifted(x, labels), function(x, labels))
