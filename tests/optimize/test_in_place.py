"""Loops over an inner dimension leave the rows where they are, where an operation does not need them in front."""

import pytest
import torch
from tests.vectorize.harness import check, outcome
from torch import nn

from looplift import lift
from looplift.base.compare import difference


def stacked(layer, x):
    out = []
    for t in range(x.shape[1]):
        out.append(torch.sigmoid(layer(x[:, t])) * 2.0)
    return torch.stack(out, dim=1)


def stored(layer, x):
    out = torch.zeros(x.shape[0], x.shape[1], 3)
    for t in range(x.shape[1]):
        out[:, t] = torch.softmax(layer(x[:, t]), dim=-1)
    return out


def with_bias(x, bias):
    return torch.stack([torch.relu(x[:, t] + bias) for t in range(x.shape[1])], dim=1)


def of_columns(x, bias):
    """The softmax runs along the rows of one iteration, which are the first dimension."""
    out = torch.zeros_like(x)
    for t in range(x.shape[1]):
        out[:, t] = torch.softmax(x[:, t], dim=0)
    return out


def as_they_are(x, bias):
    return torch.stack([x[:, t] for t in range(x.shape[1])], dim=1)


def of_two(x, bias):
    return torch.stack([x[:, t] * x[:, t] + x[:, t] for t in range(x.shape[1])], dim=1)


def last_dimension(x, bias):
    return torch.stack([torch.tanh(x[:, :, t]) for t in range(x.shape[2])], dim=2)


def into_another(x, bias):
    return torch.stack([torch.tanh(x[:, :, t]) for t in range(x.shape[2])], dim=1)


def all_but_one(x, bias):
    return torch.stack([torch.tanh(x[:, t]) for t in range(x.shape[1] - 1)], dim=1)


def cumulated(x, bias):
    return torch.stack([x[:, t].exp().cumsum(-1) for t in range(x.shape[1])], dim=1)


def also_summed(x, bias):
    total = torch.zeros(x.shape[0], x.shape[2])
    out = []
    for t in range(x.shape[1]):
        h = torch.exp(x[:, t] * bias)
        total = total + h
        out.append(h)
    return torch.stack(out, dim=1), total


def below_the_first(x, bias):
    return torch.stack([torch.tanh(x[1:, t]) for t in range(x.shape[1])], dim=1)


def differences(x, bias):
    return torch.stack([x[:-1, t] * 2 - x[1:, t] + bias for t in range(x.shape[1])], dim=1)


def every_second(x, bias):
    return torch.stack([torch.cumsum(x[::2, t, 1:], -1) for t in range(x.shape[1])], dim=1)


def one_of_the_last(x, bias):
    return torch.stack([x[1:, t, 0].exp() + 1 for t in range(x.shape[1])], dim=-1)


def stored_below(x, bias):
    out = torch.zeros_like(x)
    for t in range(x.shape[1]):
        out[1:, t] = torch.relu(x[1:, t] + bias)
    return out


def stored_from_below(x, bias):
    out = torch.zeros(x.shape[0] - 1, x.shape[1], x.shape[2])
    for t in range(x.shape[1]):
        out[:, t] = torch.relu(x[:-1, t] + bias)
    return out


def moved(function):
    """Whether dimensions are rearranged in the batched code."""
    return "permute" in function or ".T" in function


def test_values_and_gradients():
    for function in (with_bias, of_columns, as_they_are, of_two, last_dimension, into_another, all_but_one, cumulated):
        check(function, [torch.randn(4, 5, 3), torch.randn(3)], [torch.randn(2, 3, 1), torch.randn(1)])
    check(also_summed, [torch.randn(4, 5, 3), torch.randn(3)])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    "function",
    [below_the_first, differences, every_second, one_of_the_last, stored_below, stored_from_below],
)
def test_slices_stay_slices(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for shape in ((4, 5, 3), (3, 1, 2), (2, 4, 3)):
        given = [torch.randn(shape, dtype=torch.float64), torch.randn(shape[2], dtype=torch.float64)]
        want, got = (outcome(one, given, gradients=True) for one in (function, lifted))
        assert difference(got, want) is None


def test_rows_stay():
    for function in (with_bias, of_two, last_dimension, cumulated, as_they_are):
        lifted = lift(function, verify="off", backend="torch")
        lifted(torch.randn(4, 5, 3), torch.randn(3))
        assert not moved(lifted.source), lifted.source


def test_operations_on_the_moved_dimension():
    for function in (of_columns, into_another):
        lifted = lift(function, verify="off", backend="torch")
        lifted(torch.randn(4, 5, 3), torch.randn(3))
        assert moved(lifted.source), lifted.source


def test_modules():
    torch.manual_seed(0)
    for function, layer in (
        (stacked, nn.Linear(6, 3)), (stored, nn.Linear(6, 3)), (stacked, nn.LayerNorm(6)),
        (stacked, nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3))),
    ):  # fmt: skip
        lifted = lift(function, verify="off", backend="torch")
        x = torch.randn(4, 7, 6)
        torch.testing.assert_close(lifted(layer, x), function(layer, x))
        assert not moved(lifted.source), lifted.source
        one, two = (x.clone().requires_grad_() for _ in range(2))
        lifted(layer, one).square().sum().backward()
        function(layer, two).square().sum().backward()
        torch.testing.assert_close(one.grad, two.grad)


def test_a_norm_over_all_dimensions_of_an_iteration():
    layer = nn.LayerNorm((4, 6))
    lifted = lift(stacked, verify="off", backend="torch")
    x = torch.randn(4, 7, 6)
    torch.testing.assert_close(lifted(layer, x), stacked(layer, x))


def test_the_result_is_memory_of_its_own():
    x = torch.randn(4, 5, 3)
    lifted = lift(as_they_are, verify="off", backend="torch")
    lifted(x, None).zero_()
    assert x.abs().sum() > 0
