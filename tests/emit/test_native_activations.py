"""Functions of ``torch.nn.functional`` on single numbers: in kernels, and in programs over tensors in lists."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def softplus(x):
    return F.softplus(x)


def silu(x):
    return F.silu(x)


def elu(x):
    return F.elu(x)


def gelu(x):
    return F.gelu(x)


def logsigmoid(x):
    return F.logsigmoid(x)


def leaky(x):
    return F.leaky_relu(x)


def leaky_by_place(x):
    return F.leaky_relu(x, 0.2)


def leaky_by_name(x):
    return F.leaky_relu(x, negative_slope=-0.5)


EVERY = [softplus, silu, elu, gelu, logsigmoid, leaky, leaky_by_place, leaky_by_name]
VALUES = [-1000.0, -90.0, -20.5, -3.0, -0.3, -1e-6, 0.0, 1e-6, 0.4, 3.0, 19.9, 20.5, 90.0, 1000.0]
SPECIAL = [float("inf"), float("-inf"), float("nan")]


def carried(x, activation):
    """Steps that need one another."""
    out, state = torch.zeros_like(x), torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        state = activation(x[i]) + 0.25 * state
        out[i] = state
    return out


def in_a_dict(x, activation):
    found = {}
    for i in range(x.shape[0]):
        found[i % 3] = activation(x[i]) * 2 + found.get(i % 3 - 1, 0.0)
    return torch.stack([found[k] for k in range(3)])


def outcome(function, x, activation):
    x = x.clone().requires_grad_()
    found = function(x, activation)
    (slope,) = torch.autograd.grad(found.sum(), x)
    return found.detach(), slope


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", EVERY)
@pytest.mark.parametrize("loop", [carried, in_a_dict])
def test_values_and_gradients(loop, activation, dtype):
    x = torch.tensor(VALUES, dtype=dtype)
    lifted = lift(loop, verify="off")
    for _ in range(2):
        torch.testing.assert_close(lifted(x, activation), loop(x, activation))
        torch.testing.assert_close(outcome(lifted, x, activation), outcome(loop, x, activation))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", EVERY)
def test_special_values(activation, dtype):
    def each(x):
        out = torch.zeros_like(x)
        for i in range(x.shape[0]):
            if x[i] != 5:
                out[i] = activation(x[i])
        return out

    x = torch.tensor(VALUES + SPECIAL, dtype=dtype)
    lifted = lift(each, backend="native", verify="off")
    torch.testing.assert_close(lifted(x), each(x), equal_nan=True)


@pytest.mark.parametrize("activation", EVERY)
def test_they_are_kernels(activation):
    lifted = lift(carried, backend="native", verify="off")
    x = torch.tensor(VALUES)
    torch.testing.assert_close(lifted(x, activation), carried(x, activation))
    assert [loop.decision for loop in lifted.report().loops] == ["native"]


@pytest.mark.parametrize("activation", EVERY)
def test_integers_are_as_in_the_loop(activation):
    x = torch.tensor([-2, 0, 3])
    outcomes = []
    for function in (lift(carried, verify="off"), carried):
        try:
            outcomes.append(function(x, activation))
        except RuntimeError as error:
            outcomes.append(str(error))
    assert str(outcomes[0]) == str(outcomes[1])


def methods_of_tensors_in_a_list(xs):
    memo = {}
    for k in range(len(xs)):
        memo[k] = xs[k].silu() * 2 + memo.get(k - 1, 0.0)
    return memo[len(xs) - 1]


def methods_of_elements(xs):
    out, state = torch.zeros_like(xs), torch.zeros(())
    for k in range(len(xs)):
        state = xs[k].softplus() + state * 0.5
        out[k] = state
    return out


def methods_with_an_argument(xs):
    out, state = torch.zeros_like(xs), torch.zeros(())
    for k in range(len(xs)):
        state = xs[k].leaky_relu(0.1) + state * 0.5
        out[k] = state
    return out


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("loop", [methods_of_tensors_in_a_list, methods_of_elements, methods_with_an_argument])
def test_they_are_no_methods(loop, backend):
    xs = [torch.tensor(1.0), torch.tensor(2.0)] if loop is methods_of_tensors_in_a_list else torch.ones(4)
    with pytest.raises(AttributeError, match="has no attribute"):
        lift(loop, verify="off", backend=backend)(xs)
