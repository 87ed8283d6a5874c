"""Ranges of another length in each iteration of the loop around them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

POINTERS = torch.tensor([0, 2, 2, 5, 9])
COLUMNS = torch.tensor([3, 1, 0, 4, 4, 2, 1, 0, 3])


def product(pointers, columns, values, x):
    out = torch.zeros(len(pointers) - 1)
    for i in range(len(pointers) - 1):
        for k in range(pointers[i], pointers[i + 1]):
            out[i] += values[k] * x[columns[k]]
    return out


def sums(pointers, columns, values, x):
    out = torch.zeros(len(pointers) - 1)
    for i in range(len(pointers) - 1):
        total = 0.0
        for k in range(int(pointers[i]), int(pointers[i + 1])):
            total = total + values[k] * x[columns[k]]
        out[i] = total
    return out


def of_some_rows(pointers, columns, values, x):
    out = torch.zeros(len(pointers) - 1)
    for i in range(len(pointers) - 1):
        if x[i] > 0:
            for k in range(int(pointers[i]), int(pointers[i + 1])):
                out[i] = out[i] + values[k]
    return out


def outer(pointers, columns, values, x):
    out = torch.zeros(len(pointers) - 1, x.shape[0])
    for i in range(len(pointers) - 1):
        for j in range(x.shape[0]):
            for k in range(int(pointers[i]), int(pointers[i + 1])):
                out[i, j] += values[k] * x[j]
    return out


def test_ranges_between_pointers():
    for loop in (product, sums, of_some_rows, outer):
        check(loop, [POINTERS, COLUMNS, torch.randn(9), torch.tensor([1.0, -2.0, 3.0, 0.5, 1.5])])


def test_ranges_with_a_step():
    def every_second(counts, x):
        out = torch.zeros(len(counts))
        for i in range(len(counts)):
            for k in range(0, int(counts[i]), 2):
                out[i] = out[i] + x[k]
        return out

    def every_third(counts, x):
        out = torch.zeros(len(counts))
        for i in range(len(counts)):
            for k in range(1, int(counts[i]), 3):
                out[i] = out[i] + x[k] * k
        return out

    for loop in (every_second, every_third):
        check(loop, [torch.tensor([3, 0, 6, 1, 8]), torch.randn(9)])


def test_the_greatest_between_pointers():
    def greatest(pointers, columns, values, x):
        out = torch.zeros(len(pointers) - 1)
        for i in range(len(pointers) - 1):
            best = torch.tensor(-5.0)
            for k in range(int(pointers[i]), int(pointers[i + 1])):
                best = torch.maximum(best, values[k])
            out[i] = best
        return out

    check(greatest, [POINTERS, COLUMNS, torch.randn(9), torch.randn(5)], gradients=False)


def test_ranges_between_pointers_of_arrays():
    def sums_of_rows(pointers, columns, values, x):
        out = np.zeros(len(pointers) - 1)
        for i in range(len(pointers) - 1):
            total = 0.0
            for k in range(pointers[i], pointers[i + 1]):
                total += values[k] * x[columns[k]]
            out[i] = total
        return out

    def greatest_of_rows(pointers, columns, values, x):
        out = np.zeros(len(pointers) - 1)
        for i in range(len(pointers) - 1):
            best = -9.0
            for k in range(pointers[i], pointers[i + 1]):
                best = max(best, values[k])
            out[i] = best
        return out

    random = np.random.default_rng(0)
    for loop in (sums_of_rows, greatest_of_rows):
        values = [POINTERS.numpy(), COLUMNS.numpy(), random.normal(size=9), random.normal(size=5)]
        check(loop, values, gradients=False)


def test_one_sum_over_all_neighbours():
    def energy(x, near):
        total, edges = 0.0, 0
        for i in range(len(near)):
            total = total + x[i] ** 2
            for j in near[i]:
                total = total - x[i] * x[j]
                edges += 1
        return total / edges

    def energies(x, near):
        out = torch.zeros(x.shape[0], dtype=x.dtype)
        for b in range(x.shape[0]):
            total = 0.0
            for i in range(len(near)):
                for j in near[i]:
                    if x[b, j] > 0:
                        total = total + (x[b, i] - x[b, j]) ** 2
            out[b] = total
        return out

    near = [[1, 2], [], [0, 0, 3], [2]]
    check(energy, [torch.randn(4, dtype=torch.float64), near])
    check(energies, [torch.randn(3, 4, dtype=torch.float64), near])


@pytest.mark.parametrize("dtype", (torch.int64, torch.int32, torch.uint8))
def test_bounds_that_are_tensors_and_the_same_in_all_iterations(dtype):
    def counted(first, last, x):
        count = 0
        for _ in range(first[1], last[3]):
            count += 1
        return x[0] * count, count

    def between(first, last, x):
        out = torch.zeros_like(x)
        for i in range(first[0], last[3]):
            out[i] = x[i] * i
        return out

    def of_some(first, last, x):
        out = torch.zeros(4)
        for i in range(4):
            for k in range(first[i], last[3]):
                out[i] += x[k]
        return out

    for loop in (counted, between, of_some):
        check(loop, [torch.tensor([0, 1, 2, 1], dtype=dtype), torch.tensor([2, 3, 2, 4], dtype=dtype), torch.randn(5)])
