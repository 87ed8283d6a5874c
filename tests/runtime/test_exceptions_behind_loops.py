"""Loops that return where they are done, and an exception behind them where they never are: the lifted code returns as
the loop does, and where it would not, the loop runs and raises by itself."""

import time

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class NoConvergence(ArithmeticError):
    made = 0

    def __init__(self, steps, rest):
        super().__init__(f"{rest:.3g} after {steps}")
        NoConvergence.made += 1
        self.steps = steps


def relaxed(u, tolerance, steps):
    for step in range(steps):
        change = 0.0
        for i in range(1, len(u) - 1):
            new = 0.5 * (u[i - 1] + u[i + 1])
            change = max(change, abs(new - u[i]))
            u[i] = new
        if change < tolerance:
            return step
    raise NoConvergence(steps, change)


def swept(a, b, tolerance, steps):
    x = torch.zeros_like(b)
    for step in range(steps):
        change = 0.0
        for i in range(b.shape[0]):
            new = (b[i] - (a[i] * x).sum() + a[i, i] * x[i]) / a[i, i]
            change = max(change, abs((new - x[i]).item()))
            x = x.clone()
            x[i] = new
        if change < tolerance:
            return x, step
    text = f"no solution in {steps} steps"
    raise RuntimeError(text)


def first_pair(values, others):
    for i in range(len(values)):
        for j in range(len(others)):
            if abs(values[i] - others[j]) < 1e-3:
                return i, j
    raise LookupError


def last_one(limit, steps):
    for step in range(steps):
        square = step * step
        if square > limit:
            return square
    raise ValueError(square)


def frequent(words):
    for word in words:
        counts = {}
        for letter in word:
            counts[letter] = counts.get(letter, 0) + 1
        if max(counts.values()) > 2:
            return word, counts
    raise KeyError(words[-1])


def drawn(steps, limit):
    for step in range(steps):
        if np.random.random() > limit:
            return step
    raise ValueError(steps)


def place(x, values):
    for k in range(len(values)):
        if values[k] > x:
            return k
    raise ValueError(f"{x} is above all")


def places(xs, values):
    return [place(x, values) for x in xs]


def placed_again(values, limit):
    try:
        return 1 / len(values[1:])
    except ZeroDivisionError:
        for k in range(len(values)):
            if values[k] > limit:
                return k
        raise


def parabola():
    return np.linspace(0, 1, 20) ** 2


def equations():
    a = torch.tensor(np.random.default_rng(0).normal(size=(6, 6)) + 12 * np.eye(6), requires_grad=True)
    return a, torch.arange(6.0, dtype=torch.float64, requires_grad=True)


CASES = {
    "relaxed": (relaxed, lambda: (parabola(), 1e-3, 500), lambda: (parabola(), 0.0, 7)),
    "relaxed_never": (relaxed, lambda: (parabola(), 1e-3, 500), lambda: (parabola(), 0.0, 0)),
    "swept": (swept, lambda: (*equations(), 1e-8, 50), lambda: (*equations(), 0.0, 3)),
    "first_pair": (
        first_pair,
        lambda: (np.linspace(0, 4, 20), np.linspace(3, 3.5, 77)),
        lambda: (np.linspace(0, 2, 20), np.linspace(3, 3.5, 77)),
    ),
    "last_one": (last_one, lambda: (50, 20), lambda: (50, 5)),
    "last_one_never": (last_one, lambda: (50, 20), lambda: (50, 0)),
    "frequent": (frequent, lambda: (["abc", "hello", "bobbby"],), lambda: (["abc", "hello"],)),
    "drawn": (drawn, lambda: (200, 0.9), lambda: (20, 2.0)),
    "places": (places, lambda: ([0.1, 0.3], [0.2, 0.4]), lambda: ([0.1, 0.9], [0.2, 0.4])),
    "placed_again": (placed_again, lambda: ([2.0], 1.0), lambda: ([2.0], 3.0)),
}


def observed(function, make, seed):
    """The result, what the call raises, what it left in its arguments and in the generator, and gradients."""
    arguments = make()
    np.random.seed(seed)
    try:
        result, error = function(*arguments), None
    except Exception as raised:
        result, error = None, raised
    leaves = [one for one in arguments if isinstance(one, torch.Tensor)]
    gradients = torch.autograd.grad((result[0] ** 2).sum(), leaves) if leaves and error is None else ()
    return result, error, arguments, np.random.random(), gradients


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, BaseException):
            assert type(one) is type(other)
            assert one.args == other.args
            assert vars(one) == vars(other)
            assert type(one.__context__) is type(other.__context__)
        elif isinstance(other, tuple | list):
            assert type(one) is type(other)
            assert_same(one, other)
        elif isinstance(other, torch.Tensor):
            assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)
        elif isinstance(other, np.ndarray):
            assert np.array_equal(one, other)
        else:
            assert type(one) is type(other)
            assert one == other


@pytest.mark.parametrize("verify", ["first", "off", "always"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_it_returns_or_raises_as_the_loop(name, backend, verify):
    function, ends, raises = CASES[name]
    lifted = lift(function, backend=backend, verify=verify)
    for seed, make in enumerate((raises, ends, ends, raises, ends, raises, raises, raises, raises, ends)):
        assert_same(observed(lifted, make, seed), observed(function, make, seed))


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"swept"}))
def test_all_of_it_is_lifted(name):
    function, ends, _ = CASES[name]
    lifted = lift(function, verify="off")
    for _ in range(3):
        lifted(*ends())
    assert {record.decision for record in lifted.report().loops} <= {"native", "lanes"}


@pytest.mark.parametrize("verify", ["first", "always"])
def test_its_exception_is_made_once(verify):
    lifted = lift(relaxed, verify=verify)
    for _ in range(3):
        before = NoConvergence.made
        with pytest.raises(NoConvergence, match="after 7"):
            lifted(parabola(), 0.0, 7)
        assert NoConvergence.made == before + 1


def test_calls_that_raise_have_the_loops_inside_lifted():
    lifted = lift(relaxed, verify="off")

    def took(function):
        values, start = np.linspace(0, 1, 200) ** 2, time.perf_counter()
        with pytest.raises(NoConvergence):
            function(values, 0.0, 100)
        return time.perf_counter() - start

    def in_turns(function):
        function(parabola(), 1e-3, 500)
        return took(function)

    in_turns(lifted)
    assert min(in_turns(lifted) for _ in range(10)) < min(in_turns(relaxed) for _ in range(3))
    assert [record.decision for record in lifted.report().loops] == ["native", "native"]


def test_what_always_raises_keeps_the_loops_inside_lifted():
    lifted = lift(relaxed, verify="off")
    for _ in range(5):
        with pytest.raises(NoConvergence):
            lifted(parabola(), 0.0, 7)
    assert [(record.decision, record.code) for record in lifted.report().loops] == [
        ("kept", "requirement"),
        ("native", ""),
    ]
