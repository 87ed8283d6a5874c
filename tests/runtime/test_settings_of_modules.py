"""Modules of one class with other settings are other variants: dimensions that they work on, operands written into."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from looplift import lift


def of_rows(module, x):
    out = []
    for i in range(x.shape[0]):
        out.append(module(x[i]))
    return torch.stack(out)


def of_elements(module, x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total + module(x[i, j])[0]
    return total


def of_a_state(module, x):
    h, out = torch.zeros(x.shape[1:]), []
    for t in range(x.shape[0]):
        h = torch.tanh(0.5 * h + x[t])
        out.append(module(h))
    return torch.stack(out)


@pytest.mark.parametrize("function", [of_rows, of_elements, of_a_state])
@pytest.mark.parametrize("kind", [nn.Softmax, nn.LogSoftmax])
def test_a_softmax_along_another_dimension(function, kind):
    x = torch.randn(5, 3, 4, generator=torch.Generator().manual_seed(0))
    lifted = lift(function, verify="off", backend="torch")
    for dim in (-1, 0, -1):
        torch.testing.assert_close(lifted(kind(dim), x), function(kind(dim), x))


def test_norms_of_more_dimensions_raise_what_the_loop_raises():
    x = torch.randn(5, 3, 4, generator=torch.Generator().manual_seed(0))
    lifted = lift(of_elements, verify="off", backend="torch")
    torch.testing.assert_close(lifted(nn.LayerNorm(4), x), of_elements(nn.LayerNorm(4), x))
    with pytest.raises(RuntimeError, match="normalized_shape"):
        lifted(nn.LayerNorm((3, 4)), x)


def test_a_relu_in_place():
    x = torch.randn(5, 3, 4, generator=torch.Generator().manual_seed(0))
    lifted = lift(of_rows, verify="off", backend="torch")
    for inplace in (False, True, False):
        given, other = x.clone(), x.clone()
        torch.testing.assert_close(lifted(nn.ReLU(inplace), given), of_rows(nn.ReLU(inplace), other))
        assert torch.equal(given, other)
