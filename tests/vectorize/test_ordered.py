"""Places in the order of a key: a stable sort of each lane's keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def greatest_first(x):
    out = []
    for row in x:
        values = row.tolist()
        order = sorted(range(len(values)), key=lambda k: -values[k])
        out.append(order[0] * 100 + order[-1])
    return out


def in_reverse(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        order = sorted(range(x.shape[1]), key=lambda k: x[i, k].item(), reverse=True)
        for place, k in enumerate(order):
            out[i, place] = x[i, k]
    return out


def by_tensors(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for place, k in enumerate(sorted(range(x.shape[1]), key=lambda k: x[i, k])):
            out[i, place] = x[i, k] * k
    return out


def by_a_function(x):
    def key(k):
        return k % 3

    out = []
    for row in x:
        total = row.new_zeros(())
        for place, k in enumerate(sorted(range(len(row)), key=key)):
            total = total + row[k] * place
        out.append(total)
    return torch.stack(out)


def of_arrays(x):
    out = []
    for i in range(x.shape[0]):
        order = sorted(range(x.shape[1]), key=lambda k: x[i, k])
        out.append(order[1])
    return out


def handed_out(x):
    values = x[0].tolist()
    order = sorted(range(len(values)), key=lambda k: values[k])
    total = 0.0
    for k in order:
        total += values[k] * k
    return order, total


TIED = torch.tensor([[1.0, 3.0, 3.0, -1.0, 1.0], [0.0, -0.0, 2.0, 0.0, 2.0], [5.0, 4.0, 3.0, 2.0, 1.0]]).double()


@pytest.mark.parametrize("function", [greatest_first, in_reverse, by_tensors])
def test_equal_keys_stay_in_their_order(function):
    check(function, [TIED], [torch.randn(4, 7, dtype=torch.float64)], [TIED.float()], gradients=function is by_tensors)


def test_a_key_may_be_any_function():
    check(by_a_function, [torch.randn(4, 8)])


def test_places_are_integers_of_pythons():
    lifted = lift(greatest_first, backend="torch", verify="off")
    assert all(type(place) is int for place in lifted(TIED))


def test_integers_are_keys():
    check(by_tensors, [torch.randint(0, 3, (4, 9))], gradients=False)


def test_keys_that_are_no_numbers_are_the_loops():
    x = TIED.clone()
    x[1, 2] = float("nan")
    lifted: Any = lift(greatest_first, backend="torch", verify="off")
    lifted(TIED)
    assert lifted(x) == greatest_first(x)
    assert {one.decision for one in lifted.report().loops} == {"lanes"}


def test_keys_in_arrays():
    check(of_arrays, [TIED.numpy()], [np.random.default_rng(1).integers(0, 3, (4, 6))], gradients=False)


def test_the_order_may_be_handed_out():
    lifted = lift(handed_out, backend="torch", verify="off")
    for _ in range(2):
        assert lifted(TIED) == handed_out(TIED)
