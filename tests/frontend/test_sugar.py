"""Calls that run through something with a function of the author's, and iterators over neighbours."""

import itertools
import math
import operator
from functools import reduce

import numpy as np
import pytest
import torch

import looplift
from looplift.base.compare import difference


def nearest(x):
    out = torch.zeros(len(x), dtype=torch.long)
    for i in range(len(x)):
        out[i] = min(range(x.shape[1]), key=lambda j: abs(x[i, j] - 0.3))
    return out


def greatest_row(x):
    return max(x, key=lambda row: row.sum()) * 2


def first_place(x):
    return [next((j for j in range(x.shape[1]) if x[i, j] > 0.5), -1) for i in range(len(x))]


def first_value(x):
    total = 0.0
    for row in x:
        v = next((v for v in row if v > 0.5), None)
        if v is not None:
            total = total + v * 2
    return total


def folded(x):
    return [reduce(lambda a, b: 0.5 * a + b, row, 1.0) for row in x]


def product(x):
    out = []
    for i in range(len(x)):
        out.append(reduce(operator.mul, [x[i, j] for j in range(x.shape[1])]))
    return out


def differences(x):
    out = []
    for a, b in itertools.pairwise(x):
        out.append(b - a)
    return out


def products(x):
    total = 0.0
    for a, b in itertools.combinations(x, 2):
        total = total + torch.dot(a, b)
    return total


def means(x):
    out = []
    for k, s in enumerate(itertools.accumulate(x[:, 0].tolist())):
        out.append(s / (k + 1))
    return out


def decayed(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i, s in enumerate(itertools.accumulate(x[:, 1], lambda a, b: 0.9 * a + b)):
        out[i] = s
    return out


PROGRAMS = [
    nearest, greatest_row, first_place, first_value, folded, product, differences, products, means, decayed,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("sizes", [(5, 1, 2, 0, 8), (0, 1, 4)], ids=str)
def test_the_loop_is_what_it_stands_for(program, sizes):
    lifted = looplift.lift(program)
    for n in sizes:
        x = torch.randn(n, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
        for _ in range(2):
            try:
                wanted = program(x)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error).partition(" ")[0]):
                    lifted(x)
            else:
                assert difference(lifted(x), wanted, magnitude=10) is None


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p not in (greatest_row, means)], ids=lambda p: p.__name__)
def test_it_is_lifted(program):
    lifted = looplift.lift(program, verify="off")
    lifted(torch.randn(6, 4, dtype=torch.float64))
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, str(lifted.report())


def test_ties_and_nan():
    def chosen(x):
        return [(max(range(4), key=lambda j: x[i, j]), min(range(4), key=lambda j: x[i, j])) for i in range(len(x))]

    lifted = looplift.lift(chosen)
    nan = math.nan
    x = np.array([[1.0, 2, 2, 1], [nan, 1, 2, 0], [1, nan, 0, 3], [-0.0, 0.0, -0.0, 0.0]])
    assert lifted(x) == chosen(x)


def test_what_has_no_order_is_left():
    def pairs(table):
        return [a * b for a, b in itertools.combinations(table, 2)]

    table = {2: 1.0, 5: 2.0, 3: 4.0}
    lifted = looplift.lift(pairs)
    assert lifted(table) == pairs(table) == [10, 6, 15]


def nearer_to_zero(x, y):
    return torch.stack([min(x[i], y[i], key=abs) * 2 for i in range(len(x))])


def farther_from_one(x, y):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = max(x[i], y[i], x[0], key=lambda v: (v - 1) ** 2)
    return out


def least_of_two(x, y):
    return torch.stack([min(x[i], y[i], key=None) for i in range(len(x))])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("program", [nearer_to_zero, farther_from_one, least_of_two])
def test_extremes_of_several_values_by_key(program, backend):
    lifted, slopes = looplift.lift(program, verify="off", backend=backend), []
    for function in (program, lifted, lifted):
        x = torch.tensor([1.0, 2.0, 3.0, 0.0], requires_grad=True)
        y = torch.tensor([1.0, -3.0, 3.0, -1.0], requires_grad=True)
        result = function(x, y)
        slopes.append((result, torch.autograd.grad(result.sum(), [x, y], allow_unused=True)))
    assert difference(slopes[1], slopes[0]) is None
    assert difference(slopes[2], slopes[0]) is None
