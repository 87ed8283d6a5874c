"""Lambdas of the caller and of the function around a loop, and ranges by a step that is known when they run."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

import looplift
from looplift.base.compare import difference

square = lambda v: v * v
first, second = (lambda v: v + 1), (lambda v: v - 1)


def scaled(k):
    return lambda v: torch.tanh(v * k)


def newton(x, f, df):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        for _ in range(12):
            step = f(v) / df(v)
            v = v - step
            if torch.abs(step) < 1e-9:
                break
        out[i] = v
    return out


def summed(x):
    weight = lambda v, p=2: (v.abs() ** p).sum()
    total = torch.zeros((), dtype=x.dtype)
    for row in x:
        total = total + weight(row) * square(row[0])
    return total


def of_one_line(x):
    out = []
    for row in x:
        out.append(first(row) * second(row))
    return torch.stack(out)


def test_lambdas_of_the_caller():
    f, df = (lambda v: torch.cos(v) - v), (lambda v: -torch.sin(v) - 1)
    x = torch.linspace(0, 1, 7, dtype=torch.float64)
    lifted = looplift.lift(newton, backend="torch")
    for functions in ((f, df), (lambda v: v * v - 2, lambda v: 2 * v), (f, df)):
        assert difference(lifted(x, *functions), newton(x, *functions)) is None
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("program", [summed, of_one_line], ids=lambda p: p.__name__)
def test_lambdas_around_the_loop(program):
    check(program, [torch.randn(5, 3)], [torch.randn(2, 3)])


def test_what_a_lambda_closes_over():
    def applied(x, f):
        out = []
        for row in x:
            out.append(f(row))
        return out

    lifted = looplift.lift(applied)
    x = torch.randn(4, 3)
    for k in (2.0, 3.0, 2.0):
        f = scaled(k)
        assert difference(lifted(x, f), applied(x, f)) is None


# ---------------------------------------------------------------- steps


def sampled(x, k):
    out = torch.zeros_like(x)
    for i in range(1, len(x), k):
        out[i] = x[i] * 2
    return out


def down(x, k):
    out = []
    for i in range(len(x) - 1, -1, -k):
        out.append(x[i].sum() * i)
    return out


def numbered(x, k):
    total = 0
    for q, i in enumerate(range(0, len(x), k), start=1):
        total = total + x[i].sum() * q
    return total


def together(x, k):
    total = 0.0
    for i, j in zip(range(0, len(x), 2), reversed(range(1, len(x), 3))):
        total = total + (x[i] * x[j]).sum() - k
    return total


@pytest.mark.parametrize("program", [sampled, down, numbered, together], ids=lambda p: p.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_steps(program, backend):
    lifted = looplift.lift(program, backend=backend)
    for n, k in ((9, 2), (9, 3), (8, 4), (1, 2), (0, 2), (3, 5), (10, 1)):
        x = torch.randn(n, 3, dtype=torch.float64)
        assert difference(lifted(x, k), program(x, k), magnitude=10) is None
    assert lifted.report().loops[0].decision == "lanes"
    x = torch.randn(4, 3)
    if program is not together:
        for _ in range(2):
            with pytest.raises(ValueError, match="must not be zero"):
                lifted(x, 0)


def test_steps_of_either_sign():
    def every(x, start, stop, step):
        out = []
        for i in range(start, stop, step):
            out.append(x[i] - i)
        return out

    lifted = looplift.lift(every, verify="off")
    x = np.arange(20.0)
    for start, stop, step in ((0, 20, 3), (19, -1, -3), (5, 5, 2), (4, 9, -1), (2, 17, 5), (17, 2, -5)):
        assert lifted(x, start, stop, step) == every(x, start, stop, step)


def test_the_negative_of_a_quotient():
    def padded(x, k):
        out = torch.zeros(len(x))
        for i in range(-(len(x) // -k)):
            out[i] = x[i] + (-(i // 2)) + (-(len(x) // k))
        return out

    lifted = looplift.lift(padded, verify="off", backend="torch")
    for n, k in ((7, 2), (9, 4), (8, 3)):
        x = torch.randn(n)
        assert torch.equal(lifted(x, k), padded(x, k))
