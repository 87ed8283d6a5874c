"""``round(x, digits)`` of Python's floats is exact: ties and numbers next to ties are rounded as Python rounds them."""

import math
import random

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def in_lanes(x):
    out = torch.zeros(len(x), 3, dtype=torch.float64)
    for i in range(len(x)):
        out[i, 0] = round(x[i].item(), 2)
        out[i, 1] = round(float(x[i]) * 3, 0)
        out[i, 2] = round(x[i].item(), 5)
    return out


def carried(x):
    level, levels = 0.0, []
    for value in x:
        level = round(level * 0.9 + value, 3)
        levels.append(level)
    return levels


def counted(x):
    found = {}
    for value in x:
        key = round(value, 1)
        found[key] = found.get(key, 0) + 1
    return found


def of_numpy(x):
    out, level = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        level = round(level * 0.5 + x[i], 2)
        out[i] = level + round(float(x[i]), 1)
    return out


def of_integers(n):
    out = torch.zeros(n, dtype=torch.int64)
    for i in range(n):
        out[i] = round(i * 3, 2) + round(i > 2, 1)
    return out


def digits_by_name(x):
    return [round(value, ndigits=3) for value in x], [round(value, None) for value in x]


def negative_digits(x):
    return [round(value, -1) for value in x]


def numbers():
    draw = random.Random(0)
    found = [draw.uniform(-50, 50) for _ in range(400)]
    found += [k / 8 for k in range(-50, 50)] + [(k + 0.5) / 100 for k in range(-100, 100)]
    found += [math.nextafter((k + 0.5) / 10**digits, k % 2) for k in range(60) for digits in (0, 2, 5)]
    found += [(2**52 + k) / 100 for k in range(0, 2**53, 2**48 + 12345)] + [1e22, -1e300, 5e-324, 2.675, 0.0, -0.0]
    return found


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_floats(backend):
    x = torch.tensor([*numbers(), math.nan, math.inf], dtype=torch.float64)
    for function, given in ((in_lanes, x), (in_lanes, x.float()), (carried, numbers()), (of_numpy, x[:-2].numpy())):
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            assert difference(lifted(given), function(given)) is None
        assert {one.decision for one in lifted.report().loops} <= {"lanes", "native", "sequential"}


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_others(backend):
    for function, given in (
        (counted, numbers()), (carried, [1.5, 2, 3.25]), (carried, [1, 2]), (counted, [True, 2, 0.25]),
        (of_integers, 40), (negative_digits, numbers()), (digits_by_name, numbers()[:-2]),
    ):  # fmt: skip
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            assert difference(lifted(given), function(given)) is None


def of_numpys_integers(x):
    found = []
    for value in x:
        found += [round(value / 2, 1), round(value, 2), round(value)]
    return found


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.float64, np.float32])
def test_numpys_numbers(dtype, backend):
    x = np.arange(5).astype(dtype)
    lifted = lift(of_numpys_integers, backend=backend, verify="off")
    for _ in range(2):
        assert difference(lifted(x), of_numpys_integers(x)) is None
