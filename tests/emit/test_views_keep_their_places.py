"""Kernels: a row, an element or a list is what it was when it was named, whatever its index or memory becomes."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import looplift


def row_of_a_counter(x):
    k, total = len(x) - 1, 0.0
    while k >= 0:
        row = x[k]
        k -= 1
        total += row[0] * row[1]
    return total


def store_behind_a_counter(x):
    k, total = len(x) - 1, 0.0
    while k >= 0:
        row = x[k]
        k -= 1
        row[0] = total
        total += float(row[1])
    return x, total


def two_ends(x):
    i, j = 0, len(x) - 1
    while i < j:
        first, last = x[i], x[j]
        i += 1
        j -= 1
        first[0], last[1] = float(last[0]), float(first[1])
    return x


def items_of_assigned_names(x):
    a, b, total = 1.0, 2.0, 0.0
    for i in range(len(x)):
        pair = [a, b]
        a = a * 1.5 + float(x[i][0])
        b = b + 1.0
        total += pair[i % 2] + max(pair)
    return total


def items_that_are_stored_over(x):
    total = 0.0
    for i in range(len(x)):
        pair = [float(x[i][0]) * 2, float(x[i][1]) + 1]
        x[i][0] = 0.0
        total = total * 0.5 + sum(pair) + pair[i % 2]
    return x, total


def quadratic_place(x):
    for i in range(5):
        x[16 + 4 * i - i * i] = i
    return x


def element_that_changes(x, idx):
    total = 0.0
    for i in range(len(idx)):
        for j in range(len(x)):
            k = idx[i]
            if k >= 0 and k < j:
                idx[i] = 1000
                total += float(x[k][0])
    return total


def row_of_the_last_best(x, idx):
    best, total = x[0], 0.0
    for i in range(len(x)):
        if x[i][0] > best[0]:
            best = x[i]
        x[int(idx[i])][0] += 0.5
        total += float(best[0])
    return x, total


def matrix(seed):
    return np.random.default_rng(seed).random((6, 2)) + 0.1


def given(function, kind, seed):
    x = matrix(seed) if function is not quadratic_place else np.arange(19.0 + seed)
    values = {"tensor": torch.from_numpy(x), "array": x, "list": x.tolist()}[kind]
    if function in (element_that_changes, row_of_the_last_best):
        idx = np.array([0, 1, 2, 1, 0, 3])
        return values, {"tensor": torch.from_numpy(idx), "array": idx, "list": idx.tolist()}[kind]
    return (values,)


def outcome(function, values):
    try:
        result = function(*values)
    except IndexError as error:
        result = str(error)
    return repr(result), repr(values)


FUNCTIONS = [
    row_of_a_counter, store_behind_a_counter, two_ends, items_of_assigned_names, items_that_are_stored_over,
    quadratic_place, element_that_changes, row_of_the_last_best,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("kind", ["tensor", "array", "list"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_the_loop(function, kind, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for seed in range(4):
        values = given(function, kind, seed)
        assert outcome(lifted, copy.deepcopy(values)) == outcome(function, copy.deepcopy(values))


def tuple_before_its_names(x):
    a, b, pair = 1.0, 2.0, (0.0, 0.0)
    for i in range(len(x)):
        found = (a, b * 2)
        a = a + x[i]
        b = a * 0.5
        pair = found
    return a, b, pair


def tuples_that_change_places(x):
    first, second, a = (1.0, 2.0), (3.0, 4.0), 0.5
    for i in range(len(x)):
        first, second = (second[1], a), (first[0] + a, second[0])
        a = a * 0.5 + x[i]
    return first, second, a


def list_on_one_side(x):
    a, total, items = 1.0, 0.0, [0.0, 0.0]
    for i in range(len(x)):
        if x[i] > 0.5:
            items = [a, total]
        else:
            items = [total, a]
        a = a * 0.75 + x[i]
        total = total * 0.5 + items[0] - items[1] * a
    return total


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("kind", ["tensor", "array", "list"])
@pytest.mark.parametrize("function", [tuple_before_its_names, tuples_that_change_places, list_on_one_side])
def test_tuples_of_carried_numbers(function, kind, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for seed in range(4):
        x = matrix(seed).flatten()
        x = {"tensor": torch.from_numpy(x), "array": x, "list": x.tolist()}[kind]
        assert outcome(lifted, (x,)) == outcome(function, (x,))
