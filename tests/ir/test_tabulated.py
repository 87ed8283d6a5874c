"""Tables of what takes long and depends on places alone: the loop's numbers to the last digit, or no table."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from looplift import lift


def cosines(image, size):
    h, w = image.shape
    out = np.zeros((h, w))
    for by in range(0, h, size):
        for bx in range(0, w, size):
            for u in range(size):
                for v in range(size):
                    total = 0.0
                    for x in range(size):
                        for y in range(size):
                            wave = math.cos((2 * x + 1) * u * math.pi / 8) * math.cos((2 * y + 1) * v * math.pi / 8)
                            total += image[by + x, bx + y] * wave
                    out[by + u, bx + v] = total
    return out


def blurred(image, size, sigma=1.5):
    out = torch.zeros(image.shape, dtype=torch.float64)
    for i in range(size, image.shape[0] - size):
        for j in range(size, image.shape[1] - size):
            total, weights = 0.0, 0.0
            for a in range(-size, size + 1):
                for b in range(-size, size + 1):
                    weight = math.exp(-(a * a + b * b) / (2 * sigma * sigma))
                    total += weight * image[i + a, j + b]
                    weights += weight
            out[i, j] = total / weights
    return out


def waves(x, size):
    n, m = x.shape
    re, im = np.zeros((n, m)), np.zeros((n, m))
    for b in range(n):
        for k in range(m):
            for t in range(m):
                angle = -2 * math.pi * k * t / m
                re[b, k] += x[b, t] * math.cos(angle)
                im[b, k] += x[b, t] * math.sin(angle)
    return re, im


def discounted(x, size, gamma=0.9):
    out = np.zeros(x.shape[0])
    for b in range(len(x)):
        for t in range(1, x.shape[1]):
            out[b] += gamma**t * x[b, t]
    return out


def of_arrays_numbers(x, size):
    total = 0.0
    for i in range(len(x)):
        for k in range(1, size):
            total += x[i, 0] * np.exp(-k * 0.5) + np.sqrt(k)
    return total


def behind_another_loop(x, size):
    total = 0.0
    for _ in range(2):
        scale = 1.0 / (size + 1)
        for i in range(len(x)):
            for k in range(size):
                total += x[i, 0] * math.exp(-k * scale)
    return total


TABLES = [cosines, blurred, waves, discounted, of_arrays_numbers]


def triangular(x, size):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i, 0] * math.exp(-j / 8)
    return total


def of_the_data(x, size):
    total = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total += math.exp(-x[i, j])
    return total


def only_sometimes(x, size):
    total = 0.0
    for i in range(len(x)):
        for j in range(size):
            if j > 0:
                total += math.log(j) * x[i, 0]
    return total


def left_early(x, size):
    total = 0.0
    for i in range(len(x)):
        for j in range(size, -1, -1):
            total += math.log(j) * x[i, 0]
            if j == 1:
                break
    return total


def of_what_is_carried(x, size):
    total, scale = 0.0, 1.0
    for i in range(len(x)):
        for j in range(size):
            total += math.exp(-j * scale) * x[i, 0]
        scale = scale * 0.5
    return total


def all_of_it(x, size):
    out = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            out[i, j] = math.exp(-(i * i + j * j))
    return out


OTHERS = [triangular, of_the_data, only_sometimes, left_early, of_what_is_carried, all_of_it]


def values(function, size):
    x = np.random.default_rng(0).normal(size=(3 * size, 3 * size))
    return (torch.from_numpy(x) if function is blurred else x), size


@pytest.mark.parametrize("function", [*TABLES, behind_another_loop, *OTHERS])
def test_numbers_are_those_of_the_loop(function):
    lifted = lift(function, verify="off", backend="native")
    for size in (4, 4, 2, 1):
        found, wanted = lifted(*values(function, size)), function(*values(function, size))
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    assert "native" in {one.decision for one in lifted.report().loops}


@pytest.mark.parametrize("function", TABLES)
def test_a_table_is_made(function):
    lifted = lift(function, verify="off", backend="native")
    lifted(*values(function, 4))
    assert "= table(" in lifted.source


@pytest.mark.parametrize("function", OTHERS)
def test_no_table_is_made(function):
    lifted = lift(function, verify="off", backend="native")
    lifted(*values(function, 4))
    assert "= table(" not in lifted.source


def many_places(x, rows, columns):
    total = 0.0
    for i in range(2):
        for a in range(rows):
            for b in range(columns):
                total += math.sin(a * b) * x[i, 0]
    return total


@pytest.mark.parametrize("first", [(3, 4), (2100, 2000)])
def test_a_table_that_would_be_large_is_none(first):
    lifted = lift(many_places, verify="off", backend="native")
    x = np.ones((2, 2))
    for rows, columns in (first, (2100, 2000), (5, 6)):
        assert math.isclose(lifted(x, rows, columns), many_places(x, rows, columns), rel_tol=1e-12)
    assert {one.decision for one in lifted.report().loops} == {"native"}


def test_what_cannot_be_computed_is_the_loops_own_error():
    lifted = lift(discounted, verify="off", backend="native")
    x = np.ones((3, 4))
    np.testing.assert_array_equal(lifted(x, 0, 0.5), discounted(x, 0, 0.5))
    huge = lift(blurred, verify="off", backend="native")
    with pytest.raises(ZeroDivisionError):
        huge(torch.ones(5, 5, dtype=torch.float64), 1, 0.0)
    torch.testing.assert_close(
        huge(torch.ones(2, 2, dtype=torch.float64), 1, 0.0), torch.zeros(2, 2, dtype=torch.float64)
    )
