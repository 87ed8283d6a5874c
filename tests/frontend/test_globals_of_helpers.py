"""Globals that only a function reads which a loop calls."""

import copy

import numpy as np
import pytest
import torch

import looplift

ARRAY = np.arange(5.0) + 1
LIST = [0.4, 0.1, 0.1, 0.2, 0.2]
PAIRS = (1.0, 2.0, 3.0, 4.0, 5.0)
TENSOR = torch.arange(5.0)
TABLE = {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0, 4: 5.0}
NAMES = ("ARRAY", "LIST", "PAIRS", "TENSOR", "TABLE")


def by_array(k, r):
    return ARRAY[k] * r


def by_list(k, r):
    return LIST[k] * r


def by_tuple(k, r):
    return PAIRS[k] * r


def by_tensor(k, r):
    return TENSOR[k] * r


def by_dict(k, r):
    return TABLE[k] * r


def arrays(f):
    out = np.zeros_like(f)
    for x in range(f.shape[0]):
        for k in range(5):
            out[x, k] = by_array(k, f[x, k]) + by_list(k, f[x, k])
    return out


def tuples(f):
    out = np.zeros_like(f)
    for x in range(f.shape[0]):
        for k in range(5):
            out[x, k] = by_tuple(k, f[x, k]) - by_dict(k, f[x, k])
    return out


def tensors(f):
    out = torch.zeros_like(f)
    for x in range(f.shape[0]):
        for k in range(5):
            out[x, k] = by_tensor(k, f[x, k]) + by_list(k, f[x, k])
    return out


def changes_array(f):
    total = 0.0
    for x in range(len(f)):
        ARRAY[x % 5] += f[x]
        total += stored(x, f[x])
    return total


def stored(x, value):
    ARRAY[x % 5] += value
    return ARRAY[x % 5]


def writes_only_inside(f):
    total = 0.0
    for x in range(len(f)):
        total += stored(x, f[x])
    return total


def shifted(f):
    for x in range(1, f.shape[0]):
        f[x] = by_array(x - 1, f[x]) + f[x - 1]
    return f


@pytest.fixture(autouse=True)
def kept():
    before = {name: copy.deepcopy(globals()[name]) for name in NAMES}
    yield
    globals().update(before)


def outcome(function, *args):
    try:
        return np.asarray(function(*args))
    except Exception as error:
        return type(error)


def same(one, other):
    return one is other if isinstance(other, type) else not isinstance(one, type) and np.allclose(one, other)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("function", [arrays, tuples, tensors])
def test_they_are_read_as_they_are_at_each_call(function, backend):
    global ARRAY, LIST, PAIRS, TENSOR, TABLE
    x = torch.rand(30, 5) if function is tensors else np.random.default_rng(0).random((30, 5))
    lifted = looplift.lift(function, backend=backend)
    for _ in range(3):
        assert same(outcome(lifted, x), outcome(function, x))
    if backend == "auto":
        assert lifted.report().loops[0].decision in ("native", "lanes")
    ARRAY[0], LIST[0], TENSOR[0], TABLE[0] = 7, 7.0, 7, 7.0
    assert same(outcome(lifted, x), outcome(function, x))
    ARRAY, LIST, PAIRS, TENSOR = ARRAY * 2, [2 * w for w in LIST], PAIRS[::-1], TENSOR * 2
    assert same(outcome(lifted, x), outcome(function, x))
    ARRAY, LIST, PAIRS, TENSOR = ARRAY.astype(np.float32), tuple(LIST), [1, 2, 3, 4, 5], TENSOR.double()
    assert same(outcome(lifted, x), outcome(function, x))
    ARRAY, LIST, PAIRS, TENSOR, TABLE = ARRAY[:3], LIST[:3], PAIRS[:3], TENSOR[:3], {}
    assert same(outcome(lifted, x), outcome(function, x))


@pytest.mark.parametrize("function", [changes_array, writes_only_inside])
def test_what_is_written_to_is_written_once(function):
    f = np.random.default_rng(1).random(40)
    lifted, start = looplift.lift(function), ARRAY.copy()
    for _ in range(3):
        ARRAY[:] = start
        wanted, after = function(f), ARRAY.copy()
        ARRAY[:] = start
        assert np.allclose(lifted(f), wanted) and np.array_equal(ARRAY, after)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("verify", ["off", "first"])
def test_the_argument_may_be_the_global_itself(verify, backend):
    lifted, start = looplift.lift(shifted, verify=verify, backend=backend), ARRAY.copy()
    for _ in range(3):
        ARRAY[:] = start
        wanted = shifted(ARRAY).copy()
        ARRAY[:] = start
        assert np.allclose(lifted(ARRAY), wanted)
        ARRAY[:] = start
        other = np.random.default_rng(2).random(5)
        assert np.allclose(lifted(other.copy()), shifted(other.copy()))
