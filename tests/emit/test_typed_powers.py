"""Numbers to the power of tensors in typed programs."""

import math

import pytest
import torch
from tests.emit.test_typed_composed import row_program
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import first

__all__ = ["first"]

POWERS = (
    "10 ** (x[k] / 20)", "2 ** x[k]", "0.5 ** x[k, 0] * w", "torch.pow(3.0, x[k])", "torch.pow(1, x[k])",
    "x[k].abs() ** k", "0 ** x[k].abs()", "(-2.0) ** x[k].round()", "2 ** -(3 ** x[k])",
)  # fmt: skip


@pytest.mark.parametrize(("asks", "dtype"), [(True, torch.float32), (False, torch.float64), (True, torch.float64)])
@pytest.mark.parametrize("expression", POWERS)
def test_numbers_to_powers(expression, asks, dtype, first):
    x, w = ((lambda k=k, n=n: g(*n, seed=k).to(dtype).requires_grad_(asks)) for k, n in enumerate(((5, 4), (4,))))
    runs_as_program(row_program(expression), x, w)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("base", ["0", "1", "-2.0", "0.0", "1e300", "float('nan')"])
def test_where_there_is_no_slope(base, value, asks, first):
    def x():
        found = g(5, 4)
        found[1:3] = value
        return found.requires_grad_(asks)

    runs_as_program(row_program(f"({base}) ** x[k]"), x, lambda: g(4), program=None)


def smoothed(x, start):
    memo, level = {}, start
    for k in range(len(x)):
        level = 0.5 * level + x[k] if k else level + x[0] * 0
        memo[k] = 10 ** (level / 20) + level**2
    return memo[len(x) - 1]


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("start", [0, 0.5, torch.tensor(0.5)])
def test_what_is_a_number_first(start, asks, first):
    runs_as_program(smoothed, lambda: g(5).requires_grad_(asks), lambda: start)


def changed_meanwhile(x):
    memo = {}
    for k in range(len(x)):
        memo[k] = 2 ** x[k] + memo.get(k - 1, 0.0)
    total = memo[len(x) - 1] * 1
    x.detach().mul_(3)
    return total


def test_what_the_power_keeps_must_stay(first):
    runs_as_program(changed_meanwhile, lambda: g(5).requires_grad_(True), program=None)
