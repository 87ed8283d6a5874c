"""Arguments and globals by the names of builtins, which guards and generated code call. The loop is the oracle."""

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check, outcome

from looplift import lift
from looplift.base.compare import difference

max, min, all = np.max, np.min, np.all  # as "from numpy import *" has them

X = torch.linspace(-1, 1, 3, dtype=torch.float64)


def by_number(x, table):
    total = x[0] * 0
    for i in range(len(x)):
        total = total + x[i] * table[i]
    return total


def by_word(x, words, table):
    total = x[0] * 0
    for i, w in enumerate(words):
        total = total + x[i] * table[w]
    return total


def with_type(x, type, table):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * table[i] * type
    return total


def with_others(x, id, tuple, set):
    out = torch.zeros(3, dtype=torch.float64)
    for k in range(len(id)):
        out[id[k]] += x[k] * tuple[k][0] * set[k]
    return out


def with_list_and_map(list, dict, map):
    out = []
    for a, b in list:
        out.append(a * dict["k"] + b * map)
    return out


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (by_number, (X, {0: 1.0, 1: 2.0, 2: 3.0})),
        (by_number, (X, {0: 1.0, 1: 2.0, 2: 3})),
        (by_word, (X, ["a", "b", "a"], {"a": 1.0, "b": 2.0})),
        (by_word, (X, ["a", "b", "a"], {"a": 1.0, "b": 2})),
        (with_type, ([1.0, 2.0], 2.0, {0: 1.0, 1: 2.0})),
        (with_others, (X, [0, 1, 2], [(1.0, 2.0)] * 3, [1, 2, 3])),
        (with_list_and_map, ([(1.0, 2.0), (3.0, 4.0)], {"k": 2.0}, 3.0)),
    ],
)
def test_names_of_builtins_are_free(fn, arguments):
    check(fn, arguments, kept=True)


def from_the_first_on(items, enumerate):
    total = None
    for i, item in enumerate(items):
        if i == 0:
            total = item
        else:
            total = total + item * i
    return total


def test_a_builtin_that_is_an_argument_is_that_of_the_call():
    lifted = lift(from_the_first_on, verify="off")
    for count in (enumerate, lambda items: enumerate(items[::-1]), lambda items: enumerate(items, 2)):
        arguments = [1.0, 2.0, 3.0], count
        assert difference(outcome(lifted, arguments), outcome(from_the_first_on, arguments)) is None
