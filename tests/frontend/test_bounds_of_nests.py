"""Loops over products, choices and places whose bodies change what the bounds were made of."""

import copy
import itertools as it
from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Holder:
    def __init__(self, n):
        self.n = n


def chosen_while_the_bound_changes(x, n):
    total = torch.zeros((), dtype=torch.float64)
    for i, j in it.combinations(range(n), 2):
        total = total + x[i] * x[j]
        n = i + 2
    return total, n


def chosen_into_the_bound(x, n):
    total, k = 0.0, 0
    for n, k in it.combinations(range(n), 2):
        total += float(x[n]) * k
    return total, n, k


def equal_ones_too(x, n):
    total = 0.0
    for i, j in it.combinations_with_replacement(range(n), 2):
        total += float(x[i]) * j
        n += 1 if n < 4 else 0
    return total, n


def in_all_orders(x, n):
    out = []
    for i, j, k in it.permutations(range(n), 3):
        out.append(float(x[i]) + j * 10 - k)
        n = 2
    return out, n


def of_a_length_that_grows(x, n):
    ys = [n, n, n]
    count = 0
    for i, j in it.product(range(2), range(len(ys))):
        ys.append(i * 10 + j)
        count += 1
    return count, ys


def of_an_item_that_is_stored(x, n):
    sizes, total = [n], 0.0
    for i, j in it.product(range(2), range(sizes[0])):
        sizes[0] = sizes[0] + 1
        total += float(x[i]) + j
    return total, sizes


def of_an_attribute(x, n):
    holder, total = Holder(n), 0.0
    for i, j in it.product(range(2), range(holder.n)):
        holder.n += 1
        total += float(x[i]) + j
    return total, holder.n


def places_of_a_size_that_is_stored(x, n):
    sizes, total = np.array([n]), 0.0
    for i, j in np.ndindex(2, sizes[0]):
        sizes[0] = sizes[0] + 1
        total += float(x[i]) + j
    return total, sizes.tolist()


def of_a_tensor_that_is_cut(x, n):
    total, part = 0.0, x[:3]
    for i, j in it.product(range(2), range(1, part.shape[0])):
        total += float(part[0]) * j + i
        part = part[1:] if part.shape[0] > 1 else part
    return total, part.shape[0]


def of_one_range_twice(x, n):
    total = 0.0
    for i, j in it.product(range(n), repeat=2):
        total += float(x[i]) * j
        n = n + 1 if n < 5 else n
    return total, n


FUNCTIONS = (
    chosen_while_the_bound_changes, chosen_into_the_bound, equal_ones_too, in_all_orders, of_a_length_that_grows,
    of_an_item_that_is_stored, of_an_attribute, places_of_a_size_that_is_stored, of_a_tensor_that_is_cut,
    of_one_range_twice,
)  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_bounds_are_those_of_before(function, backend):
    lifted: Any = lift(function, backend=backend, verify="off")
    x = torch.tensor([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0], dtype=torch.float64)  # exact in any order
    for n in (3, 4, 2, 1, 0, 3):
        assert lifted(x.clone(), n) == function(x.clone(), n)


def windows(image, h, k):
    out = []
    for i, j in np.ndindex(h - k + 1, h):
        out.append(float(image[i]) * j)
    return out


def windows_of_a_shape(image, h, k):
    total = 0.0
    for (i,) in np.ndindex((h - k,)):
        total += float(image[i])
    return total


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [windows, windows_of_a_shape])
def test_sizes_are_not_negative(function, backend):
    lifted: Any = lift(function, backend=backend, verify="off")
    image = np.arange(9.0)
    for h, k in ((4, 2), (3, 3), (2, 4), (1, 5), (5, 1)):
        try:
            want = function(image, h, k)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                lifted(image, h, k)
        else:
            assert lifted(image, h, k) == want


def items_of_an_array(values):
    out, last = [], None
    for (i, j), last in np.ndenumerate(values):
        out.append((last * 2 + i, j, type(last).__name__))
    return out, type(last).__name__


def items_of_an_array_that_is_bound_anew(values):
    total = 0.0
    for (i, j), v in np.ndenumerate(values):
        total = total + v * (i + j)
        values = values + 1
    return total, values


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [items_of_an_array, items_of_an_array_that_is_bound_anew])
def test_items_are_numbers_of_numpy(function, backend):
    lifted: Any = lift(function, backend=backend, verify="off")
    array = np.arange(6.0).reshape(2, 3)
    for values in (torch.from_numpy(array), array, array.astype(np.float32), torch.ones(2, 2), array):
        want, got = function(copy.deepcopy(values)), lifted(copy.deepcopy(values))
        assert str(got[-1]) == str(want[-1])
        assert type(got[0]) is type(want[0]) and got[0] == want[0]


def range_of_its_own(x, n):
    range = lambda k: [k, k + 1]
    out = []
    for i, j in it.product(range(n), range(2)):
        out.append(i * 10 + j)
    for i, j in np.ndindex(2, 2):
        out.append(i + j)
    return out


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_builtins(backend):
    lifted: Any = lift(range_of_its_own, backend=backend, verify="off")
    for n in (2, 3):
        assert lifted(torch.ones(2), n) == range_of_its_own(None, n)
