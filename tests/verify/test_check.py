"""check tells a function from each of its wrong versions, and not from right ones."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest
import torch

from looplift.verify import check

X = torch.linspace(-1.0, 2.0, 5)
Y = torch.linspace(0.5, 1.5, 5)
M = torch.arange(12.0).reshape(4, 3)
INDEX = torch.tensor([0, 2, 2, 1])


def squares(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2
    return out


def total(x):
    s = 0
    for v in x:
        s = s + v
    return s


def safe_root(x):
    out = []
    for v in x:
        out.append(torch.sqrt(v) if v > 0 else v * 0)
    return torch.stack(out)


def scatter(index, m):
    out = torch.zeros(m.shape[1])
    for i in range(len(index)):
        out[index[i] % m.shape[1]] = m[i].sum()
    return out


def scale_in_place(x, y):
    for i in range(len(x)):
        x[i] = x[i] * y[i]


def shift(x, y):
    for i in range(len(x)):
        x[i] = y[len(y) - len(x) + i - 1]


def shift_at_once(x, y):
    saved = y.clone()
    for i in range(len(x)):
        x[i] = saved[len(y) - len(x) + i - 1]


def announce(x):
    for v in x:
        print(float(v))


def noise(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] + torch.rand(())
    return out


def inverse(values):
    return [1 / v for v in values]


def raising(kind, message):
    def inverse_raising(values):
        try:
            return [1 / v for v in values]
        except ZeroDivisionError as error:
            raise kind(message) from error

    return inverse_raising


def half(x):
    return x * 0.5


def first_rows(m):
    return [m[i] for i in range(len(m))]


def dropped_gradient(x):
    return squares(x.detach())


def leaking_root(x):
    return torch.where(x > 0, torch.sqrt(x), x * 0)


def pick_largest(x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best


SAME = {
    "squares": (squares, lambda x: x**2, (X,)),
    "in place": (
        scale_in_place,
        lambda x, y: [x[i].copy_(x[i] * y[i]) for i in range(len(x))][:0] or None,
        (torch.rand(4), torch.rand(4)),
    ),
    "rows are views": (first_rows, lambda m: list(m.unbind()), (M,)),
    "random": (noise, lambda x: noise(x), (X,)),
    "arrays": (lambda a: a.sum(0), lambda a: np.add.reduce(a, 0), (np.arange(6.0).reshape(2, 3),)),
    "lists": (inverse, lambda values: [1 / v for v in values], ([1.0, 2.0],)),
}

DIFFERENT = {
    "values": (squares, lambda x: x * x + (x == 2.0), (X,), "elements differ"),
    "zero trips": (total, lambda x: x.sum(), (X,), "instead of 0"),
    "extent one": (squares, lambda x: (x**2).squeeze(), (X,), "shape () instead of (1,)"),
    "dtype": (squares, lambda x: x.float() ** 2, (X,), "dtype torch.float32 instead of"),
    "gradient lost": (squares, dropped_gradient, (X,), "gradients (example 0): result: None instead of"),
    "gradient leaks NaN": (safe_root, leaking_root, (X,), "gradients"),
    "ties": (lambda x: pick_largest(x) + 0, lambda x: x.amax() + 0, (X,), "ties"),
    "last writer": (
        scatter,
        lambda index, m: torch.zeros(m.shape[1]).index_put((index % m.shape[1],), m.sum(1), accumulate=True),
        (INDEX, M),
        "elements differ",
    ),
    "not in place": (scale_in_place, lambda x, y: None, (X, Y), "argument 0 after the call"),
    "overlapping": (shift, shift_at_once, (X, Y), "the same tensor"),
    "printed": (announce, lambda x: print([float(v) for v in x]), (X,), "printed"),
    "random stream": (noise, lambda x: x + torch.rand(len(x) + 1)[1:], (X,), ""),
    "random state": (half, lambda x: (torch.rand(()), x * 0.5)[1], (X,), "random generator"),
    "numpy state": (half, lambda x: (np.random.rand(), x * 0.5)[1], (X,), "random generator"),
    "python state": (half, lambda x: (random.random(), x * 0.5)[1], (X,), "random generator"),
    "exception type": (inverse, raising(ValueError, "division by zero"), ([1.0, 2.0],), "raised ValueError"),
    "exception text": (inverse, raising(ZeroDivisionError, "zero"), ([1.0, 2.0],), "raised ZeroDivisionError"),
    "shares memory": (lambda m: m[0].clone(), lambda m: m[0], (M,), "shares memory"),
    "result type": (lambda x: list(x), lambda x: tuple(x), (X,), "tuple"),
    "strides": (squares, lambda x: torch.as_strided(x, x.shape, (1,) * x.ndim) ** 2, (X,), "second element"),
}


@pytest.mark.parametrize("name", SAME)
def test_same(name):
    f, g, example = SAME[name]
    result = check(f, g, example)
    assert result, str(result)
    assert result.trials > 5
    assert "nothing tells them apart" in str(result)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name):
    f, g, example, text = DIFFERENT[name]
    result = check(f, g, example)
    assert not result
    assert text in str(result)


@pytest.mark.parametrize(
    "f", [squares, total, safe_root, scatter, scale_in_place, shift, announce, noise, pick_largest]
)
def test_a_function_is_itself(f):
    example = (INDEX, M) if f is scatter else (X, Y) if f in (scale_in_place, shift) else (X,)
    result = check(f, f, example)
    assert result and not result.unsteady, str(result)


def test_the_examples_stay_as_they_are():
    x, y = X.clone(), Y.clone()
    check(scale_in_place, scale_in_place, (x, y))
    assert torch.equal(x, X) and torch.equal(y, Y) and not x.requires_grad and x.grad is None


def test_random_state_and_settings_of_the_caller_stay():
    state, dtype, threads = torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads()
    check(noise, noise, (X,))
    assert torch.equal(torch.get_rng_state(), state)
    assert (torch.get_default_dtype(), torch.get_num_threads()) == (dtype, threads)


def test_modules_and_what_a_function_holds_are_compared_and_put_back():
    norm = torch.nn.BatchNorm1d(3)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    seen = []

    def step(m):
        seen.append(1)
        return norm(m)

    def no_step(m):
        seen.append(1)
        norm.train(False)
        out = torch.nn.functional.batch_norm(m, None, None, norm.weight, norm.bias, True)
        norm.train(True)
        return out

    assert check(step, step, (M,))
    result = check(step, no_step, (M,))
    assert "captured value" in str(result)
    assert seen == []
    assert all(torch.equal(value, before[name]) for name, value in norm.state_dict().items())


def test_arguments_that_are_modules_get_gradients():
    linear = torch.nn.Linear(3, 2)
    f = lambda layer, m: torch.stack([layer(row) for row in m])
    assert check(f, lambda layer, m: layer(m), (linear, M), seconds=0.0)
    result = check(f, lambda layer, m: torch.nn.functional.linear(m, layer.weight.detach(), layer.bias), (linear, M))
    assert "gradients" in str(result)


def test_a_function_that_does_not_agree_with_itself_is_named():
    result = check(lambda x: time.perf_counter_ns(), lambda x: 0, (X,))
    assert result.unsteady and "does not agree with itself" in str(result)


def test_a_loop_that_does_not_end_on_other_values_is_given_up(monkeypatch):
    def until_large(x):
        v = x.abs().sum() + 1
        while v < 10:
            v = v * (1 + x.abs().max())
        return v

    monkeypatch.setattr("looplift.verify.trials.SHORTEST_LIMIT", 1.0)
    result = check(until_large, until_large, (X,))
    assert result
    assert any("takes more than" in name for name in result.skipped)


def test_other_threads_can_check():
    results = []
    thread = threading.Thread(target=lambda: results.append(check(squares, squares, (X,), seconds=1.0)))
    thread.start()
    thread.join()
    assert results[0]


def test_an_example_need_not_be_a_tuple():
    assert check(squares, squares, X, Y)


def test_no_example():
    with pytest.raises(ValueError, match="at least one example"):
        check(squares, squares)


def test_time_is_kept():
    result = check(squares, squares, (torch.rand(3000),), seconds=0.5)
    assert "out of time" in str(result)
