"""Updates of rows in place that NumPy refuses, because the array's type cannot hold the result."""

import numpy as np
import pytest

from looplift import lift


def add_number(held, given):
    for i in range(len(held)):
        held[i] += given[i, 0]
    return held


def multiply_row(held, given):
    for i in range(len(held)):
        held[i] *= given[i]
    return held


def halve(held, given):
    for i in range(len(held)):
        held[i] /= 2
    return held


def add_all(held, given):
    for i in range(len(held)):
        for j in range(given.shape[1]):
            held[i] += given[i, j]
    return held


def whole_row(held, given):
    total = np.zeros(held.shape[1], held.dtype)
    for i in range(len(held)):
        total += given[i]
    return total


def each_item(held, given):
    for i in range(len(held)):
        for j in range(given.shape[1]):
            held[i, j] += given[i, j]
    return held


TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128")


def outcome(function, held, given):
    held = held.copy()
    with np.errstate(all="ignore"):
        try:
            return function(held, given), held
        except Exception as error:
            return type(error), held


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [add_number, multiply_row, halve, add_all, whole_row, each_item])
def test_an_update_that_raises_in_the_loop_raises(function, backend):
    for held_type in TYPES:
        for given_type in TYPES:
            held, given = np.arange(8).reshape(2, 4).astype(held_type), np.ones((2, 4), given_type)
            wanted, left = outcome(function, held, given)
            found, changed = outcome(lift(function, verify="off", backend=backend), held, given)
            if isinstance(wanted, type) or isinstance(found, type):
                assert found is wanted, (held_type, given_type)
            else:
                assert found.dtype == wanted.dtype and np.array_equal(found, wanted), (held_type, given_type)
            assert np.array_equal(changed, left), (held_type, given_type)
