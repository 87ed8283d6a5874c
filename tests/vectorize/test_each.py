"""Functions of Python's numbers that decide something: each lane's by Python itself, and its errors are the loop's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference

DECISIONS = {"lanes", "sequential"}


def swings(x, limit):
    ends, counts = [], []
    for v in x.tolist():
        n = 0
        while n < limit and math.cos(v) < 0.9:
            v = v * 0.7 + math.atan2(v, n + 1)
            n += 1
        ends.append(v)
        counts.append(n)
    return ends, counts


def step_sizes(errors, tolerance):
    sizes = []
    for error in errors.tolist():
        h = 0.1
        for _ in range(6):
            h = h * min(5.0, max(0.2, 0.9 * (tolerance / error) ** (1 / 3)))
            if h > 1:
                break
        sizes.append(h)
    return sizes


def guarded_logs(x):
    sums = []
    for v in x.tolist():
        total = 0.0
        for _ in range(5):
            if v > 0 and math.log(v) > -1:
                total += 1 / math.log(v + 1)
            v = v - 0.3
        sums.append(total)
    return sums


def pushed(weights, starts, horizon):
    rewards = []
    for a in starts.tolist():
        reward = 0.0
        for t in range(horizon):
            seen = torch.tensor([math.cos(a), math.sin(a)], dtype=torch.float64)
            a = a + 0.1 * torch.tanh(weights @ seen).sum().item()
            reward -= a * a
            if abs(a) > 2:
                reward -= horizon - t
                break
        rewards.append(reward)
    return torch.tensor(rewards)


def numbers(count, seed=0):
    return torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_functions_of_each_lane():
    check(swings, [numbers(20) * 9 - 4, 7], [numbers(3), 0], [numbers(0), 3], gradients=False, decisions=DECISIONS)
    check(step_sizes, [numbers(20), 0.01], [numbers(2), 1.0], gradients=False, decisions=DECISIONS)
    check(guarded_logs, [numbers(20) * 2], [numbers(4, seed=1)], gradients=False, decisions={"lanes", "scan"})
    check(pushed, [numbers(6).view(3, 2) * 4, numbers(9, seed=1), 12], gradients=False, decisions=DECISIONS)


def of_arrays(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = x[i]
        for _ in range(9):
            if math.sin(v) > 0.5:
                break
            v = v + 0.2
        out[i] = v
    return out


def test_functions_of_numbers_in_arrays():
    check(of_arrays, [numbers(9).numpy() * 5], [numbers(2).numpy()], gradients=False, decisions=DECISIONS)


def halved(x):
    counts = []
    for v in x.tolist():
        n = 0
        while math.log(v) > -2:
            v, n = v - 0.2, n + 1
        counts.append(n)
    return counts


def turned(x):
    angles = []
    for v in x.tolist():
        if math.atan2(v, -1.0) > 0:
            angles.append(v + 1)
        else:
            angles.append(v - 2)
    return angles


def test_few_numbers_of_many_lanes():
    few = torch.tensor([0.0, -0.0, 2.5, -1.0], dtype=torch.float64)
    more = torch.cat([few.repeat(400), numbers(3000)])
    check(turned, [few.repeat(500)], [more], [torch.cat([few, few * 2]).repeat_interleave(200)], gradients=False)


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [
        (halved, [numbers(9)], ValueError),
        (step_sizes, [torch.tensor([0.1, 0.0], dtype=torch.float64), 0.1], ZeroDivisionError),
        (swings, [torch.tensor([0.1, math.inf], dtype=torch.float64), 5], ValueError),
    ],
)
def test_errors_are_the_loops(function, arguments, error):
    lifted = lift(function, verify="off", backend="torch")
    with pytest.raises(error) as wanted:
        function(*arguments)
    with pytest.raises(error) as found:
        lifted(*arguments)
    assert str(found.value) == str(wanted.value)


def test_kernels_of_small_products_where_a_loop_is_left_early():
    lifted = lift(pushed, verify="off")
    arguments = [numbers(6).view(3, 2) * 4, numbers(9, seed=1), 12]
    found, wanted = (outcome(one, arguments, gradients=False) for one in (lifted, pushed))
    assert not difference(found, wanted, magnitude=1.0, path="call")
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
