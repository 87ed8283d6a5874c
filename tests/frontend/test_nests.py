"""Loops over products, combinations and pairs of what the body stores into: the items are those from before."""

import copy
import itertools

import numpy as np
import pytest
import torch

from looplift import lift


def product_of_changed(x, y):
    out, k = [], 0
    for p, q in itertools.product(x, y):
        out.append(p * q)
        y[k % len(y)] = q + 10
        k += 1
    return out, y


def put(values, value):
    values[0] = value


def product_that_a_helper_changes(x, y):
    s = 0
    for p, q in itertools.product(x, y):
        put(y, p)
        s = s + q
    return s, y


def combinations_of_changed(x, y):
    s = 0
    for p, q in itertools.combinations(x, 2):
        s = s + p * q
        x[-1] = s
    return s, x


def permutations_of_shared(x, y):
    k = 0
    for p, q in itertools.permutations(x, 2):
        y[k % 2] = p - q
        k += 1
    return y


def neighbours_of_changed(x, y):
    k, out = 0, []
    for p, q in itertools.pairwise(x):
        k += 1
        x[k] = p + q
        out.append(q)
    return out, x


def told_once(values):
    print("made")
    return values


def product_of_calls(x, y):
    s = 0
    for p, q in itertools.product(told_once(x), told_once(y)):
        s = s + p * q
    return s


def apart(kind):
    return kind([1.0, 2.0, 3.0]), kind([4.0, 5.0])


def shared(kind):
    values = kind([1.0, 2.0, 3.0])
    return values, values


LOOPS = (
    product_of_changed,
    product_that_a_helper_changes,
    combinations_of_changed,
    permutations_of_shared,
    neighbours_of_changed,
    product_of_calls,
)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("given", [apart, shared])
@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_items_are_those_of_the_iterator(loop, given, kind, capsys):
    theirs = given(kind)
    ours = copy.deepcopy(theirs)
    want = repr(loop(*theirs)), repr(theirs), capsys.readouterr().out
    lifted = lift(loop, verify="off")
    got = repr(lifted(*ours)), repr(ours), capsys.readouterr().out
    assert got == want
