"""Loops that change elements at computed places have several iterations written out: for any number of them, and one
that raises does so where the loop would."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.emit.native_repeated import TIMES, repeated

LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 259, 513)


def histogram(values, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in values:
        k = int(v * bins)
        if 0 <= k < bins:
            counts[k] += 1
    return counts


def last_and_sum(keys, values, out):
    for i in range(len(keys)):
        out[keys[i]] = out[keys[i]] * 0.5 + values[i]
    return out


def skipped(keys, values, n):
    out = np.zeros(n)
    for i in range(len(keys)):
        if values[i] < 0:
            continue
        out[keys[i]] += values[i]
    return out


def left(keys, values, n):
    out = np.zeros(n)
    for i in range(len(keys)):
        if values[i] < -2:
            break
        out[keys[i]] += values[i]
    return out


def filled(values, n):
    out = np.zeros(n)
    for i in range(len(values)):
        out[i] += values[i]
    return out


def lifted(function):
    return lift(function, backend="native", verify="off")


@pytest.mark.parametrize("length", LENGTHS)
def test_any_number_of_iterations(length):
    random = np.random.default_rng(length)
    values, keys = random.normal(size=length), random.integers(-5, 5, length)
    np.testing.assert_array_equal(lifted(histogram)(values, 5), histogram(values, 5))
    for function in (skipped, left):
        np.testing.assert_array_equal(lifted(function)(keys, values, 5), function(keys, values, 5))
    given = torch.from_numpy(keys), torch.from_numpy(values)
    found, expected = (f(*given, torch.ones(5, dtype=torch.float64)) for f in (lifted(last_and_sum), last_and_sum))
    assert torch.equal(found, expected)


def test_which_loops_are_written_out():
    random = np.random.default_rng(0)
    values, keys = random.normal(size=600), random.integers(0, 5, 600)
    repeats = f"< {TIMES}; ++once"
    for function, given, is_written_out in (
        (histogram, (values, 5), True),
        (skipped, (keys, values, 5), True),
        (left, (keys, values, 5), False),
        (filled, (values, 600), False),
    ):
        one = lifted(function)
        one(*given)
        assert (repeats in one.source) == is_written_out, function.__name__


@pytest.mark.parametrize("place", (0, 3, 4, 6, 258))
def test_an_error_comes_where_the_loop_raises(place):
    keys, values = np.arange(300) % 5, np.ones(300)
    keys[place] = 7
    found, expected = np.ones(5), np.ones(5)
    for function, out in ((lifted(last_and_sum), found), (last_and_sum, expected)):
        with pytest.raises(IndexError, match="index 7 is out of bounds"):
            function(keys, values, out)
    np.testing.assert_array_equal(found, expected)


def test_a_long_body_stays_as_it_is():
    body = ["    const int64_t k = key(i);", *["    x(k) += 1;"] * 40]
    loop = ["  for (; i < pause; ++i) {", *body, "  }"]
    assert repeated(loop) == loop
    short = [loop[0], *body[:2], loop[-1]]
    assert repeated(short)[0] == f"  for (; pause - i >= {TIMES};)" and repeated(short)[-4:] == short
