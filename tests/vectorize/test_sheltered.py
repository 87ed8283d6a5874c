"""What some lanes compute and do not take has no gradient, also where that of a factor is not finite."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


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


def divided_under_if(x, tau):
    total = torch.zeros(())
    for i in range(len(x)):
        if x[i] > 0.1:
            total = total + torch.exp(x[i] / tau) * x[i]
        else:
            total = total - x[i] / (tau + 1)
    return total


LANES = [[0.5, -0.25, 2.0], [0.5, 0.25], [-0.5, -0.25], [0.0]]


@pytest.mark.parametrize("tau", [0.5, -0.5, 3, float("inf")])
@pytest.mark.parametrize("x", LANES)
def test_a_number_of_all_lanes_is_a_divisor_as_it_is(x, tau):
    check(divided_under_if, [torch.tensor(x), tau])


@pytest.mark.parametrize("tau", [0.0, 0, 1e-13, 1e-40, float("nan")])
@pytest.mark.parametrize("x", LANES)
def test_by_what_is_almost_zero_the_loop_divides(x, tau):
    check(divided_under_if, [torch.tensor(x), tau], gradients=False)
    lifted = lift(divided_under_if, verify="off", backend="torch")
    for _ in range(2):
        wanted, found = (outcome(f, [torch.tensor(x), tau], gradients=True) for f in (divided_under_if, lifted))
        assert not difference(found, wanted, magnitude=1.0, path="call")


def test_no_table_of_divisors_is_made():
    lifted = lift(divided_under_if, verify="off", backend="torch")
    lifted(torch.tensor([0.5, -0.25, 2.0], requires_grad=True), 0.5)
    assert "x / tau" in lifted.source


def similar_pairs(z, tau):
    n = z.shape[0] // 2
    loss = torch.zeros(())
    for i in range(2 * n):
        same = torch.exp(torch.dot(z[i], z[(i + n) % (2 * n)]) / tau)
        others = torch.zeros(())
        for k in range(2 * n):
            if k != i:
                others = others + torch.exp(torch.dot(z[i], z[k]) / tau)
        loss = loss - torch.log(same / others)
    return loss


def beyond_the_end(z, count):
    out = torch.zeros(count)
    for i in range(count):
        if i < z.shape[0]:
            out[i] = z[i].sum()
    return out


@pytest.mark.parametrize("rows", [2, 4, 5, 7])
def test_rows_that_are_required_anyway_are_read_as_they_stand(rows):
    z = torch.randn(rows, 3, generator=torch.Generator().manual_seed(rows))
    check(similar_pairs, [z, 0.5])
    check(beyond_the_end, [z, rows + 2], [z, rows], [z, 1])
    lifted = lift(similar_pairs, verify="off", backend="torch")
    lifted(z, 0.5)
    assert "@" in lifted.source


def root_of_a_quotient(x, y):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        ratio = y[i] / x[i]
        if x[i] > 0:
            out[i] = ratio + torch.sqrt(ratio)
        else:
            out[i] = x[i] * 3
    return out


def logarithm_of_a_root(x, y):
    total = torch.zeros(())
    for i in range(len(x)):
        root = torch.sqrt(x[i])
        total = total + (torch.log(root * y[i]) if x[i] > 0 else y[i])
    return total


@pytest.mark.parametrize("function", [root_of_a_quotient, logarithm_of_a_root])
def test_what_is_made_safe_is_made_of_what_is_safe(function):
    y = torch.tensor([1.0, 2.0, 0.5])
    check(function, [torch.tensor([0.5, 0.0, 2.0]), y], [torch.zeros(3), y], [torch.tensor([1.0, 2.0, 3.0]), y])
