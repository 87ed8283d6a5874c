"""``round`` of NumPy's floats in kernels: an integer of Python's, ties to even, or the error of the loop."""

import math

import numpy as np
import pytest

from looplift import lift


def rounded(x):
    out = []
    total = 0
    for i in range(len(x)):
        number = round(x[i] * 1.5) + round(x[i] / np.cos(x[i]))
        total += number
        out.append(number)
    return out, total


NUMBERS = [0.5, 1.5, 2.5, -0.5, -1.5, 1e15, -3e9, 0.0, -0.0, 7.49999]


def shown(function, x):
    try:
        out, total = function(x)
        return out, total, {type(one) for one in out}, type(total)
    except (ValueError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("more", [[], [math.nan], [math.inf], [1e30]])
def test_floats_of_numpy_are_rounded_as_in_the_loop(dtype, more):
    x = np.array(NUMBERS + more, dtype=dtype)
    with np.errstate(all="ignore"):
        lifted = lift(rounded, verify="off", backend="native")
        for _ in range(2):
            assert shown(lifted, x) == shown(rounded, x)
        if not more:
            assert {one.decision for one in lifted.report().loops} == {"native"}
