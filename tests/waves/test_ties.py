"""The greatest of equal elements share a gradient, also where calls run together by torch.vmap."""

import pytest
import torch

from looplift import lift


def greatest(x, places):
    out = torch.zeros(len(places))
    for k in range(len(places)):
        part = None
        rows = x[part]
        if not len(rows) != 0:
            continue
        out[k] += torch.exp(rows.max()) - rows.min()
        part = slice(0, places[k])
    return out


def folded(tree, x):
    if isinstance(tree, int):
        return x[tree]
    left, right = folded(tree[0], x), folded(tree[1], x)
    return torch.stack([left, right]).max() * torch.sin(left) + right


def trees(x, places):
    return torch.stack([folded(tree, x) for tree in (((0, 1), 2), (1, (2, 0)), 1)])


@pytest.mark.parametrize("program", [greatest, trees], ids=lambda p: p.__name__)
def test_equal_elements_share_the_gradient(program):
    lifted = lift(program)
    values = torch.tensor([[0.5, 0.0, 0.5], [0.5, 0.5, 0.5], [0.0, 0.0, -1.0]])
    for _ in range(3):
        slopes = []
        for function in (program, lifted):
            x = (values[0] if program is greatest else values).clone().requires_grad_()
            (first,) = torch.autograd.grad(function(x, [1, 2, 3]).sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(first.square().sum(), x)
            slopes.append((first.detach(), second))
        torch.testing.assert_close(*slopes)
