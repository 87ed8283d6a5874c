"""Kernels that store what the array takes in another way, or not at all: numbers of the other library, and lists."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift

WHOLE = [2, 300, -3, 2**40, 7]
FRACTIONS = [2.5, -0.5, 3e9, -2.7, 1e20]


def elements(target, values):
    for i in range(len(values)):
        target[i, 0] = values[i]


def results(target, values):
    for i in range(len(values)):
        target[i, 0] = values[i] * 2 - values[0]


def updates(target, values):
    for i in range(len(values)):
        target[i, 0] += values[i]


def filled_rows(target, values):
    for i in range(len(values)):
        target[i] = values[i]


def whole_rows(target, values):
    for i in range(len(target)):
        target[i] = values[:2]


def rows_of_numbers(target, values):
    for i in range(len(values)):
        target[i, :2] = [values[i], i]


def tensor(dtype, numbers=None):
    dtype = getattr(torch, dtype)
    return torch.zeros(5, 2, dtype=dtype) if numbers is None else torch.tensor(numbers).to(dtype)


def array(dtype, numbers=None):
    return np.zeros((5, 2), dtype) if numbers is None else np.array(numbers).astype(dtype)


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        function(*arguments)
    except Exception as error:
        return type(error), str(error), [np.asarray(one).tolist() for one in arguments]
    return [np.asarray(one).tolist() for one in arguments]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loop", [elements, results, updates, filled_rows, whole_rows, rows_of_numbers])
@pytest.mark.parametrize("takes", [(tensor, array), (array, tensor)], ids=["tensor takes array", "array takes tensor"])
def test_numbers_of_the_other_library(loop, takes):
    for target in ("float32", "int64", "uint8", "bool"):
        lifted = lift(loop, backend="native", verify="off")
        for given in ("float64", "float32", "int64", "bool"):
            for count in (1, 5):
                numbers = (FRACTIONS if given.startswith("float") else WHOLE)[:count]
                arguments = [takes[0](target), takes[1](given, numbers)]
                assert outcome(lifted, arguments) == outcome(loop, arguments), (target, given, count)


def read_by_a_tuple(rows, out):
    for i in range(len(rows)):
        out[i] += rows[i, 0]


def stored_by_a_tuple(rows, out):
    for i in range(len(rows)):
        rows[i, 0] = out[i]


def by_one_in_a_tuple(rows, out):
    for i in range(len(out)):
        out[i,] = 1.0


def read_of_a_column(rows, out):
    for i in range(len(rows)):
        out[i] += sum(rows[:, 0])


@pytest.mark.parametrize("loop", [read_by_a_tuple, stored_by_a_tuple, by_one_in_a_tuple, read_of_a_column])
def test_a_list_takes_no_tuple(loop):
    lifted = lift(loop, backend="native", verify="off")
    for rows, out in (([[1.0, 2.0]] * 3, [0.5] * 3), (np.ones((3, 2)), [0.5] * 3), ([[1.0], [2.0]], np.ones(2))):
        assert outcome(lifted, [rows, out]) == outcome(loop, [rows, out])
