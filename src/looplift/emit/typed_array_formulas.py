"""Functions of NumPy's of rows in, functions of simpler ones that a typed program calls for them out.

Each computes in the order in which NumPy does, to the last bit. Where that depends on the processor, or NumPy gives
another kind of array, an assertion fails and the loop runs.
"""

from __future__ import annotations

import math

import numpy as np


def cumsum(x):
    assert len(x) > 0
    found = np.zeros_like(x)
    total = x[0]
    found[0] = total
    for k in range(1, len(x)):
        total = total + x[k]
        found[k] = total
    return found


def cumprod(x):
    assert len(x) > 0
    found = np.zeros_like(x)
    total = x[0]
    found[0] = total
    for k in range(1, len(x)):
        total = total * x[k]
        found[k] = total
    return found


def running_maximum(x):
    assert len(x) > 0
    found = np.zeros_like(x)
    most = x[0]
    for k in range(len(x)):
        assert x[k] == x[k]
        assert x[k] != 0 or most != 0 or math.copysign(1.0, x[k]) == math.copysign(1.0, most)
        if x[k] > most:
            most = x[k]
        found[k] = most
    return found


def running_minimum(x):
    assert len(x) > 0
    found = np.zeros_like(x)
    least = x[0]
    for k in range(len(x)):
        assert x[k] == x[k]
        assert x[k] != 0 or least != 0 or math.copysign(1.0, x[k]) == math.copysign(1.0, least)
        if x[k] < least:
            least = x[k]
        found[k] = least
    return found


def in_order(x):
    values = sorted(x.tolist())
    assert len(values) > 0
    for value in values:
        assert value - value == 0
        assert value != 0 or math.copysign(1.0, value) > 0
    return values


def median(x):
    values = in_order(x)
    half = len(values) // 2
    if len(values) % 2 == 1:
        return np.float64(float(values[half]))
    total = float(values[half - 1]) + float(values[half])
    assert total - total == 0
    return np.float64(total / 2)


def between(values, q):
    """What stands at a share ``q`` of numbers in order, or between two of them."""
    assert 0 <= q <= 1
    place = float(len(values) - 1) * q
    low = int(place)
    if low + 1 >= len(values):
        return float(values[-1])
    below, above = values[low], values[low + 1]
    away = above - below
    assert away - away == 0
    part = place - low
    if part >= 0.5:
        return above - away * (1 - part)
    return below + away * part


def quantile(x, q):
    return np.float64(between(in_order(x), float(q)))


def percentile(x, q):
    return np.float64(between(in_order(x), float(q) / 100))


def quantiles(x, q):
    values = in_order(x)
    found = np.zeros(len(q))
    for k in range(len(q)):
        found[k] = between(values, float(q[k]))
    return found


def percentiles(x, q):
    values = in_order(x)
    found = np.zeros(len(q))
    for k in range(len(q)):
        found[k] = between(values, float(q[k]) / 100)
    return found


def diff(x):
    assert len(x) > 1
    return x[1:] - x[:-1]


def flip(x):
    return x[::-1]


def roll(x, shift):
    found = np.zeros_like(x)
    for k in range(len(x)):
        found[(k + shift) % len(x)] = x[k]
    return found


def tile(x, times):
    assert times > 0
    found = np.zeros(len(x) * times, dtype=x.dtype)
    for k in range(len(found)):
        found[k] = x[k % len(x)]
    return found


def repeat(x, times):
    assert times > 0
    found = np.zeros(len(x) * times, dtype=x.dtype)
    for k in range(len(found)):
        found[k] = x[k // times]
    return found


def concatenate(x, y):
    found = np.zeros(len(x) + len(y), dtype=x.dtype)
    for k in range(len(x)):
        found[k] = x[k]
    for k in range(len(y)):
        found[len(x) + k] = y[k]
    return found


def outer(x, y):
    found = np.zeros((len(x), len(y)), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(len(y)):
            found[i, j] = x[i] * y[j]
    return found


def sort(x):
    values = sorted(x.tolist())
    found = np.zeros_like(x)
    for k in range(len(values)):
        assert values[k] == values[k]
        assert values[k] != 0 or math.copysign(1.0, values[k]) > 0
        found[k] = values[k]
    return found


def unique(x):
    values = sorted(set(x.tolist()))
    found = np.zeros(len(values), dtype=x.dtype)
    for k in range(len(values)):
        found[k] = values[k]
    return found


def bincount(x):
    values = x.tolist()
    assert len(values) > 0 and min(values) >= 0
    found = np.zeros(max(values) + 1, dtype=np.int64)
    for value in values:
        found[value] += 1
    return found


def var(x):
    assert len(x) > 0
    away = x - x.sum() / len(x)
    return (away * away).sum() / len(x)


def std(x):
    assert len(x) > 0
    away = x - x.sum() / len(x)
    return np.sqrt((away * away).sum() / len(x))
