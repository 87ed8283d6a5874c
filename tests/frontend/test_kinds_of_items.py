"""What an item is whose place a tensor tells goes by what is subscripted, not by the tensor."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

PLACES = torch.tensor([0, 2, 1, 0])
LIST = [0.5, 1.5, -2.0]


def is_a_tensor(xs, t):
    count = 0
    for i in range(t.shape[0]):
        if isinstance(xs[t[i]], torch.Tensor):
            count += 1
        else:
            count += 10
    return count


def asked_of_torch(xs, t):
    total = 0.0
    for place in t:
        v = xs[place]
        total = total * 0.5 + (v if torch.is_tensor(v) else v + 10)
    return total


def of_a_dict(d, t):
    total = 0
    for i in range(len(t)):
        total += 1 if isinstance(d["a"][t[i]], torch.Tensor) else 10
    return total


def of_an_array(a, t):
    count = 0
    for i in range(t.shape[0]):
        if isinstance(a[t[i]], np.generic):
            count += 1
        else:
            count += 10
    return count


def repeated(xs, t):
    total = 0
    for i in range(len(t)):
        items = xs[t[i]] * t[i]
        total += 1 if isinstance(items, torch.Tensor) else len(items)
    return total


def scaled(w, x):
    total = 0.0
    for i in range(len(w)):
        v = w[i] * x[i]
        if isinstance(v, torch.Tensor):
            total = total + v.sum()
    return total


@pytest.mark.parametrize(
    ("function", "items"),
    [
        (is_a_tensor, LIST), (is_a_tensor, torch.tensor(LIST)), (asked_of_torch, LIST),
        (asked_of_torch, torch.tensor(LIST)), (of_a_dict, {"a": LIST}), (of_a_dict, {"a": torch.tensor(LIST)}),
        (of_an_array, np.array(LIST)), (of_an_array, torch.tensor(LIST)), (repeated, [[1.0], [2.0], [3.0, 4.0]]),
        (repeated, torch.tensor(LIST)),
    ],
)  # fmt: skip
def test_items_are_what_they_were_taken_from(function, items):
    check(function, (items, PLACES), kept=True)


def test_products_of_tensors_are_known_for_tensors():
    check(scaled, ([0.5, 2.0], torch.arange(6.0).reshape(2, 3)))


def pairs_of_a_row_that_changes(rows, t):
    total = 0.0
    for i in range(t.shape[0]):
        row = rows[t[i]]
        for a, b in itertools.product(row, row):
            row[0] = row[0] + 1
            total = total * 0.5 + a * b
    return total


def neighbours_in_a_row_that_changes(rows, t):
    total = 0.0
    for i in range(t.shape[0]):
        row = rows[t[i]]
        for v in reversed(row):
            row[0] = row[0] + v
            total = total * 0.5 + v
    return total


@pytest.mark.parametrize("function", [pairs_of_a_row_that_changes, neighbours_in_a_row_that_changes])
def test_items_that_were_taken_before_a_store(function):
    check(function, ([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]], PLACES), kept=True)


def of_a_type_of_tensor(x, kinds):
    count = 0
    for i in range(x.shape[0]):
        if isinstance(x[i], torch.FloatTensor):
            count += 1
        elif isinstance(x[i], torch.LongTensor | torch.DoubleTensor):
            count += 10
    return count


def of_types_of_tensors(x, kinds):
    count = 0
    for i in range(x.shape[0]):
        if isinstance(x[i] * 2, (torch.IntTensor, torch.DoubleTensor)):
            count += 1
    return count


def of_an_abstract_class(x, kinds):
    count = 0
    for i in range(x.shape[0]):
        count += 1 if isinstance(x[i], kinds) else 2
    return count


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32])
@pytest.mark.parametrize("function", [of_types_of_tensors, of_an_abstract_class])
def test_types_of_tensors_hold_by_the_type_of_their_numbers(function, dtype):
    check(function, (torch.arange(3).to(dtype), (int, torch.FloatTensor)), kept=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_type_of_tensor_alone(dtype):
    check(of_a_type_of_tensor, (torch.arange(3).to(dtype), ()), kept=True)
