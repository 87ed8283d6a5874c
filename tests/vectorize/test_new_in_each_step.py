"""Arrays that each step of a loop that stays makes and writes to: what they begin with is made anew each time."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def zeros(rows, w):
    out = []
    for row in rows:
        h = torch.zeros(3)
        for k in row:
            x = torch.zeros(3)
            x[k] = 1.0
            h = torch.tanh(h * w + x)
        out.append(h)
    return torch.stack(out)


def computed(rows, w):
    out = []
    for row in rows:
        h = torch.zeros(3)
        for k in row:
            x = torch.ones(3) * w * w
            x[k] += 1.0
            h = torch.tanh(h * w + x)
        out.append(h)
    return torch.stack(out)


def cloned(rows, w):
    out = []
    given = torch.stack([w, w + 1, w + 2])
    for row in rows:
        h = torch.zeros(3)
        for k in row:
            x = given.clone()
            x[k] = 0.5
            h = torch.tanh(h * w + x)
        out.append(h)
    return torch.stack(out)


def until_large(rows, w):
    out = []
    for row in rows:
        h, t = torch.zeros(3), 0
        while t < len(row) and h[0] < 2:
            x = torch.zeros(3)
            x[t % 3] = 1.0
            h = h * w + x
            t += 1
        out.append(h)
    return torch.stack(out)


def without_lanes(rows, w):
    h = torch.zeros(3)
    for t in range(len(rows)):
        x = torch.ones(3) * w
        x[t % 3] = 2.0
        h = torch.tanh(torch.sin(h) * h + x)
    return h


CALLS = ([[0, 1, 2], [1], [2, 2, 0, 1]], [[1, 2]], [[0, 0], [2]])


@pytest.mark.parametrize("program", [zeros, computed, cloned], ids=lambda p: p.__name__)
def test_arrays_of_each_step(program):
    check(program, *([rows, torch.tensor(0.7)] for rows in CALLS), decisions={"lanes", "sequential"})


def test_steps_that_lanes_leave():
    calls = ([rows, torch.tensor(0.7)] for rows in CALLS)
    check(until_large, *calls, gradients=False, decisions={"lanes", "sequential"})


def test_steps_without_lanes():
    lifted = lift(without_lanes, verify="off", backend="torch")
    for rows in CALLS:
        torch.testing.assert_close(lifted(rows, torch.tensor(0.7)), without_lanes(rows, torch.tensor(0.7)))
