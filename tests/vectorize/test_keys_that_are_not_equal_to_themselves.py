"""Dicts that loops fill and hand out: a key that is NaN is one key where it is one object, and several where not."""

import pytest
import torch
from tests.vectorize.harness import check_backends

from looplift import lift

NAN = float("nan")


def one_key(xs, k):
    found = {}
    for i in range(len(xs)):
        found[k] = xs[i] * 2
    return found


def keys_that_return(xs):
    found = {}
    for i in range(3 * len(xs)):
        found[xs[i % len(xs)]] = i * 2.0
    return found


def pairs(xs, k):
    found = {}
    for i in range(len(xs)):
        found[i % 2, k] = xs[i] + 1
    return found


def keys_of_elements(x):
    found = {}
    for i in range(len(x)):
        found[x[i].item() * 2] = i
    return found


def complex_keys(xs):
    found = {}
    for i in range(2 * len(xs)):
        found[xs[i % len(xs)] * 1j] = i
    return found


def check_items(function, *arguments):
    wanted = list(map(str, function(*arguments).items()))
    for backend in ("auto", "torch", "native"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            assert list(map(str, lifted(*arguments).items())) == wanted, lifted.source


@pytest.mark.parametrize("key", [NAN, 1.5, 2])
def test_one_key(key):
    check_items(one_key, [1.0, 2.0, 3.0], key)
    check_items(pairs, [1.0, 2.0, 3.0], key)


@pytest.mark.parametrize("last", [NAN, 0.0])
def test_keys_that_return(last):
    check_items(keys_that_return, [1.0, 2.0, last])
    check_items(complex_keys, [1.0, 2.0, last])


@pytest.mark.parametrize("last", [NAN, 0.0])
def test_keys_of_elements(last):
    given = torch.tensor([1.0, last, 2.0, last, 1.0], dtype=torch.float64)
    check_items(keys_of_elements, given)
    check_items(keys_of_elements, given.numpy())


def test_what_is_a_number_stays_lifted():
    check_backends(keys_that_return, [[1.0, 2.0, 0.0]])
