"""Numbers that a loop changes in place, with gradients: kernels make new ones, where nothing sees the difference."""

import pytest
import torch

from looplift import lift


def filtered(y, q, r):
    mean, spread = torch.zeros((), dtype=y.dtype), torch.ones((), dtype=y.dtype)
    likelihood = torch.zeros((), dtype=y.dtype)
    for t in range(len(y)):
        spread = spread + q
        gain = spread / (spread + r)
        error = y[t] - mean
        likelihood -= 0.5 * (torch.log(spread + r) + error * error / (spread + r))
        mean = mean + gain * error
        spread = (1 - gain) * spread
    return likelihood


def with_decay(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.full((), 0.5, dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total *= 0.9
        total += state
        total /= 2
    return total, state


def under_an_if(x, w):
    state, total = torch.ones((), dtype=x.dtype), x.new_zeros(())
    for i in range(len(x)):
        state = torch.sin(state * w + x[i])
        if i % 2 == 0:
            total += state * x[i]
        else:
            total -= w
    return total


def of_nests(x, w):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        state = x[i]
        for _ in range(3):
            state = torch.cos(state * w)
            total += state
        total -= x[i]
    return total * total


def until_large(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total += state * state
        if total > 1.0:
            break
    return total


def read_inside(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + total)
        total += x[i]
    return state + total


def of_two_names(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=x.dtype)
    first = total
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total += state
    return first, total


def of_the_caller(x, w, total):
    state = torch.ones((), dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total += state
    return total


def read_between(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total += state
    kept = torch.exp(total) * w
    for i in range(len(x)):
        total += x[i]
    return kept, total


def of_other_digits(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=torch.float32)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total += state
    return total


def scaled_by_a_tensor(x, w):
    state, total = torch.ones((), dtype=x.dtype), torch.ones((), dtype=x.dtype)
    for i in range(len(x)):
        state = torch.tanh(state * w + x[i])
        total *= state
    return total


KERNELS = (filtered, with_decay, under_an_if, of_nests, until_large)
OTHERS = (read_inside, of_two_names, of_the_caller, read_between, of_other_digits, scaled_by_a_tensor)


def results(function, inputs):
    """What is handed out, whether it is what was given or twice the same, and the gradients; or the error."""
    try:
        found = function(*inputs)
        ends = [one for one in (found if isinstance(found, tuple) else (found,)) if one.requires_grad]
        asking = [one for one in inputs if one.requires_grad and one.is_leaf]
        slopes = torch.autograd.grad(sum(one.sin() for one in ends), asking, allow_unused=True) if ends else ()
    except RuntimeError as error:
        return type(error)
    same = found[0] is found[1] if isinstance(found, tuple) else any(found is one for one in inputs)
    return found, same, slopes


def inputs_of(function, count, dtype):
    torch.manual_seed(count)
    numbers = 2 if function in (filtered, of_the_caller) else 1
    found = [torch.randn(count, dtype=dtype), *(torch.rand((), dtype=dtype) + 0.2 for _ in range(numbers))]
    return [one.requires_grad_(place != 2 or function is filtered) for place, one in enumerate(found)]


@pytest.mark.parametrize("function", KERNELS + OTHERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_answers_are_those_of_the_loop(function, dtype):
    lifted = lift(function, verify="off")
    is_exact = dtype == torch.float64 and function is not of_other_digits
    near = {"rtol": 1e-9, "atol": 1e-9} if is_exact else {"rtol": 1e-2, "atol": 1e-3}
    for count in (5, 5, 0, 1, 2, 9, 5):
        wanted = results(function, inputs_of(function, count, dtype))
        found = results(lifted, inputs_of(function, count, dtype))
        if not isinstance(wanted, type):
            torch.testing.assert_close(found, wanted, **near)


@pytest.mark.parametrize("function", KERNELS, ids=lambda one: one.__name__)
def test_they_are_kernels(function):
    lifted = lift(function, verify="off")
    lifted(*inputs_of(function, 5, torch.float64))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}, lifted.report()


def test_checked_by_differences():
    lifted = lift(filtered, verify="off")
    y, q, r = inputs_of(filtered, 4, torch.float64)
    assert torch.autograd.gradcheck(lifted, (y, q, r))
    assert torch.autograd.gradgradcheck(lifted, (y, q, r))
