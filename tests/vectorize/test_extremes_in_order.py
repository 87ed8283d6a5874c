"""Running extremes through which gradients flow: equal values share the gradient as the steps of the loop do."""

import pytest
import torch

from looplift import lift


def over_rows(x, w):
    out = []
    for i in range(x.shape[0]):
        best = torch.zeros(x.shape[2], dtype=x.dtype)
        for j in range(x.shape[1]):
            best = torch.maximum(best, torch.relu(x[i, j] * w))
        out.append(best)
    return torch.stack(out)


def least_of_columns(x, w):
    low = x[:, 0] * 2
    for j in range(x.shape[1]):
        low = torch.minimum(x[:, j] * w, low)
    return low


def where_chosen(x, w):
    out = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        best = torch.full((x.shape[2],), float("-inf"), dtype=x.dtype)
        for j in range(x.shape[1]):
            if i != j:
                best = torch.maximum(best, x[i, j] * w)
        out[i] = best
    return out


def of_pairs(x, w):
    out = torch.zeros(x.shape[0], x.shape[1], x.shape[2], dtype=x.dtype)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            best = x[i, k]
            for j in range(i):
                best = torch.maximum(best, x[j, k] + w)
            out[i, k] = best
    return out


def same_in_each_step(x, w):
    best = x[0, 0]
    for _ in range(x.shape[1]):
        best = torch.maximum(best, x[1, 0] * w)
    return best


def numbers(x, w):
    best = x[0, 0, 0]
    for i in range(x.shape[0]):
        best = torch.max(best, x[i, 1, 0] * w[0])
    return best


def over_maxima(y):
    best = y[0]
    for i in range(1, y.shape[0]):
        best = torch.maximum(best, y[i])
    return best


def of_neighbours(x, w, neighbours):
    out = torch.zeros_like(x)
    for i in range(len(neighbours)):
        best = None
        for j in neighbours[i]:
            m = torch.relu(x[j] * w)
            if best is None:
                best = m
            else:
                best = torch.maximum(best, m)
        if best is not None:
            out[i] = best
    return out


def of_pairs_of_neighbours(x, w, neighbours):
    out = []
    for h in range(2):
        for i in range(len(neighbours)):
            best = x[i] * w
            for j in neighbours[i]:
                best = torch.maximum(best, x[j] + h)
            out.append(best)
    return torch.stack(out)


DENSE = [over_rows, least_of_columns, where_chosen, of_pairs, same_in_each_step, numbers]
NEIGHBOURS = [[1, 2, 3], [], [0], [4, 4, 5, 1], [2, 0, 1, 3], [5]]


def gradients(function, x, w, *rest):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    out = function(x, w, *rest)
    weights = torch.arange(1, out.numel() + 1, dtype=out.dtype).reshape(out.shape)
    return out, torch.autograd.grad((out * weights).sum(), (x, w), allow_unused=True)


def is_exact(function, x, w, *rest, decisions=("lanes",)):
    lifted = lift(function, backend="torch")
    for _ in range(2):
        (ours, own), (theirs, wanted) = gradients(lifted, x, w, *rest), gradients(function, x, w, *rest)
        assert torch.equal(ours, theirs) and ours.dtype == theirs.dtype
        for one, other in zip(own, wanted, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other, rtol=1e-6, atol=0)
    assert {loop.decision for loop in lifted.report().loops} == set(decisions)


def whole(*shape, seed=0, dtype=torch.float32):
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("function", DENSE)
def test_equal_values_halve_what_is_left(function, dtype):
    for seed in range(3):
        is_exact(function, whole(5, 7, 4, seed=seed, dtype=dtype), torch.ones(4, dtype=dtype))


@pytest.mark.parametrize("function", DENSE)
def test_values_that_differ(function):
    generator = torch.Generator().manual_seed(3)
    is_exact(function, torch.randn(5, 7, 4, generator=generator), torch.rand(4, generator=generator))


@pytest.mark.parametrize("function", [of_neighbours, of_pairs_of_neighbours])
def test_of_other_lengths_in_each_iteration(function):
    for seed in range(3):
        is_exact(function, whole(6, 4, seed=seed), torch.ones(4), NEIGHBOURS)


def test_no_iteration_that_is_chosen():
    x, w = whole(1, 1, 3).requires_grad_(), torch.ones(3)
    lifted = lift(where_chosen, backend="torch")
    for _ in range(2):
        assert torch.equal(lifted(x, w), where_chosen(x, w)) and not lifted(x, w).requires_grad


@pytest.mark.parametrize("neighbours", [[[], [], []], [[], [0], []]])
def test_who_takes_part(neighbours):
    def call(function):
        x, w = whole(3, 4).requires_grad_(), torch.ones(4).requires_grad_()
        return torch.autograd.grad(function(x, w, neighbours).sum() + 0 * x.sum(), (x, w), allow_unused=True)

    lifted = lift(of_neighbours, backend="torch")
    for _ in range(2):
        for ours, theirs in zip(call(lifted), call(of_neighbours), strict=True):
            assert (ours is None) == (theirs is None)
            assert ours is None or torch.equal(ours, theirs)


def test_what_a_step_keeps_must_not_change():
    for function in (over_maxima, lift(over_maxima, backend="torch")):
        x = torch.ones(4, 3).requires_grad_()
        y = x * 2
        out = function(y)
        y.mul_(3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


def test_infinite_values_are_equal_too():
    x = whole(5, 7, 4)
    x[1], x[2, :4], x[3, 1:3] = float("-inf"), float("inf"), float("-inf")
    for function in (where_chosen, over_rows):
        lifted = lift(function, backend="torch")
        for _ in range(2):
            (ours, own), (theirs, wanted) = gradients(lifted, x, torch.ones(4)), gradients(function, x, torch.ones(4))
            assert torch.equal(ours, theirs)
            assert all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(own, wanted, strict=True))


def test_nan_is_the_loops():
    x = whole(5, 7, 4)
    x[1, 2, 0] = float("nan")
    lifted = lift(where_chosen, backend="torch")
    (ours, own), (theirs, wanted) = gradients(lifted, x, torch.ones(4)), gradients(where_chosen, x, torch.ones(4))
    assert torch.equal(ours.nan_to_num(9.0), theirs.nan_to_num(9.0))
    assert all(torch.equal(a.nan_to_num(9.0), b.nan_to_num(9.0)) for a, b in zip(own, wanted, strict=True))


def test_second_gradients():
    x = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(1))

    def curvature(function):
        one = x.clone().requires_grad_()
        w = torch.tensor([1.5, 0.5]).requires_grad_()
        (slope,) = torch.autograd.grad((function(one, w) ** 3).sum(), one, create_graph=True)
        return torch.autograd.grad((slope**2).sum(), (one, w))

    lifted = lift(over_rows, backend="torch")
    for ours, theirs in zip(curvature(lifted), curvature(over_rows), strict=True):
        torch.testing.assert_close(ours, theirs)


def two_steps(x, w):
    best = x[0, 0]
    for i in range(x.shape[0]):
        best = torch.maximum(best, x[i, 1] * w)
        best = torch.maximum(best, x[i, 2])
    return best


def wider_values(x, w):
    best = x[0, 0, :1]
    for i in range(x.shape[0]):
        best = torch.maximum(best, x[i, 0] * w)
    return best


@pytest.mark.parametrize("function", [two_steps, wider_values])
def test_other_steps_stay_in_their_order(function):
    lifted, x = lift(function, backend="torch"), whole(5, 7, 4)
    for _ in range(2):
        (ours, own), (theirs, wanted) = gradients(lifted, x, torch.ones(4)), gradients(function, x, torch.ones(4))
        assert torch.equal(ours, theirs) and all(map(torch.equal, own, wanted))
    assert "lanes" not in {loop.decision for loop in lifted.report().loops}
