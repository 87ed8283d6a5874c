"""What some lanes compute and do not take has no gradient, also where that of a factor is not finite."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def stored_under_if(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        root = torch.sqrt(x[i])
        if x[i] > 0.1:
            out[i] = root
    return out


def chosen(x):
    total = 0.0
    for i in range(len(x)):
        root = torch.sqrt(x[i])
        total = total + (root if x[i] > 0.1 else x[i])
    return total


def summed_under_if(x):
    total = torch.zeros(())
    for i in range(len(x)):
        inverse = 1 / x[i]
        root = x[i] ** 0.5
        if x[i] > 0.1:
            total = total + root * inverse
    return total


def greater_of_two(x):
    total = 0.0
    for i in range(len(x)):
        total = total + max(torch.sqrt(x[i]), x[i] + 1)
    return total


def beside_the_diagonal(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            gap = (x[i] - x[j]) ** 2
            distance = gap.sqrt()
            if i != j and distance > 0.05:
                total = total + distance
            elif i != j:
                total = total - gap
    return total


def both_sides(x):
    total = 0.0
    for i in range(len(x)):
        root, inverse = torch.sqrt(x[i]), 1 / x[i]
        weight = root if x[i] > 0.1 else x[i] * 2
        if x[i] > 0.2:
            total = total + weight * inverse
    return total


def farthest(x):
    total = 0.0
    for i in range(len(x)):
        best = None
        for j in range(len(x)):
            distance = ((x[i] - x[j]) ** 2).sqrt()
            if best is None or distance > best:
                best = distance
        total = total + best
    return total


def with_torch_where(x):
    out = []
    for i in range(len(x)):
        root = torch.sqrt(x[i])
        out.append(torch.where(root > 0.1, root, x[i]))
    return torch.stack(out)


def greatest_root(x):
    out = []
    for i in range(len(x)):
        roots = []
        for j in range(len(x)):
            roots.append(((x[i] - x[j]) ** 2).sum().sqrt())
        out.append(torch.stack(roots).max())
    return torch.stack(out)


def gradient(function, x):
    x = x.clone().requires_grad_()
    function(x).sum().backward()
    return x.grad


@pytest.mark.parametrize(
    "loop",
    [
        stored_under_if, chosen, summed_under_if, greater_of_two, beside_the_diagonal, both_sides, farthest,
        with_torch_where, greatest_root,
    ],
)  # fmt: skip
def test_gradients_where_a_root_is_of_zero(loop):
    lifted = lift(loop)
    for seed in range(2):
        for zeros in (0, 1, 2):
            torch.manual_seed(seed)
            x = torch.rand(8)
            x[3 : 3 + zeros] = 0
            torch.testing.assert_close(lifted(x.clone()), loop(x.clone()), equal_nan=True)
            torch.testing.assert_close(gradient(lifted, x), gradient(loop, x), equal_nan=True)


def test_what_the_loop_does_not_take_is_made_safe():
    lifted = lift(chosen, backend="torch")
    x = torch.tensor([0.5, 0.0, 0.3, 0.2], requires_grad=True)
    lifted(x).backward()
    assert lifted.report().loops[0].decision == "lanes"
    assert x.grad is not None and torch.isfinite(x.grad).all()


def test_distances_of_equal_rows_keep_what_is_no_number():
    def rooted(x, y):
        out = torch.zeros(x.shape[0], y.shape[0])
        for i in range(x.shape[0]):
            for j in range(y.shape[0]):
                out[i, j] = ((x[i] - y[j]) ** 2).sum().sqrt()
        return out

    y = torch.rand(5, 3)
    lifted, found = lift(rooted), []
    for function in (lifted, rooted):
        x = y[:4].clone().requires_grad_()
        function(x, y).sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(*found, equal_nan=True)
