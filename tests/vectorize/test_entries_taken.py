"""Entries of lists of other lengths that are read one by one: inputs of the others alone have no gradient."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def first_of_each(x, y, near):
    out = torch.zeros(len(near), dtype=x.dtype)
    for i in range(len(near)):
        mine = []
        for e in near[i]:
            mine.append(x[i, 1] if y[e, e] <= 0.25 else y[e, e])
        if mine:
            out[i] = mine[0]
    return out


def last_of_each(x, y, near):
    out = []
    for i in range(len(near)):
        mine = [x[i, e] * 2 if y[e, e] <= 0.25 else y[e, e] * 3 for e in near[i]]
        out.append(mine[-1] if len(mine) > 0 else x[i, 0])
    return torch.stack(out)


def product_of_two(x, y, near):
    total = 0.0
    for i in range(len(near)):
        if len(near[i]) > 1:
            mine = []
            for e in near[i]:
                mine.append(x[i, 1] if y[e, e] <= 0.25 else y[e, e])
            total = total + mine[0] * mine[1]
    return total


VALUES = [(0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
NEAR = [[[0, 1], [], [0, 2, 1]], [[1, 2], [0], [1, 0]]]


def slopes(function, diagonal, near):
    x, y = torch.arange(9.0).reshape(3, 3).requires_grad_(), torch.tensor(diagonal).diag().requires_grad_()
    result = function(x, y, near)
    return result.detach(), torch.autograd.grad(result.sum(), [x, y], allow_unused=True)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [first_of_each, last_of_each, product_of_two])
def test_gradients_are_those_of_the_loop(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for diagonal in VALUES:
        for near in NEAR:
            found, wanted = slopes(lifted, diagonal, near), slopes(function, diagonal, near)
            assert difference(found, wanted) is None, (diagonal, near)
