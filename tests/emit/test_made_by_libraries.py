"""What a kernel hands out is allocated by its library: of any shape and dtype, freed as any other, by any thread."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.build import arrays


def doubled(x, dtype):
    out = np.zeros(len(x), dtype=dtype)
    for i in range(len(x)):
        out[i] = x[i] + x[i]
    return out


def running(x, dtype):
    out = torch.zeros(x.shape[0], dtype=dtype)
    for i in range(1, x.shape[0]):
        out[i] = out[i - 1] + x[i]
    return out


def two_tables(n, m):
    table, ones = torch.ones((n, m)), torch.full((m,), 3, dtype=torch.int64)
    for i in range(1, n):
        for j in range(1, m):
            table[i, j] = table[i - 1, j] + table[i, j - 1]
            ones[j] = ones[j - 1] + i
    return ones, table


def deep(n):
    out = torch.zeros((1, 2, 1, 1, 1, n))
    for i in range(1, n):
        for j in range(2):
            out[0, j, 0, 0, 0, i] = out[0, j, 0, 0, 0, i - 1] + j
    return out


def names(made, maker, given, outcome, function):
    new_float32 = torch.zeros(made.shape[0])
    for i in range(1, made.shape[0]):
        new_float32[i] = new_float32[i - 1] * maker + made[i] * given + outcome[i] * function
    return new_float32


@pytest.mark.parametrize("length", (0, 1, 5))
@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.int64, np.int32, np.int8, np.uint16, np.bool_))
def test_arrays(dtype, length):
    x = np.ones(length, dtype=dtype)
    found, expected = lift(doubled, backend="native", verify="off")(x, dtype), doubled(x, dtype)
    assert found.dtype == expected.dtype and found.flags.owndata and found.flags.writeable
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("length", (1, 2, 5))
@pytest.mark.parametrize("dtype", (torch.float64, torch.float32, torch.int64, torch.int16, torch.half, torch.bfloat16))
def test_tensors(dtype, length):
    x = torch.ones(length, dtype=dtype)
    found, expected = lift(running, backend="native", verify="off")(x, dtype), running(x, dtype)
    assert found.dtype == expected.dtype and found.stride() == expected.stride()
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    found.resize_(2 * length)


@pytest.mark.parametrize("sizes", ((0, 3), (3, 0), (0, 0), (1, 1), (4, 3)))
def test_several_in_their_order(sizes):
    lifted = lift(two_tables, backend="native", verify="off")
    for _ in range(2):
        for found, expected in zip(lifted(*sizes), two_tables(*sizes), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_six_dimensions():
    torch.testing.assert_close(lift(deep, backend="native", verify="off")(4), deep(4))


def test_names_of_the_author():
    arguments = torch.ones(4), 2.0, 3.0, torch.arange(4.0), 0.5
    torch.testing.assert_close(lift(names, backend="native", verify="off")(*arguments), names(*arguments))


@pytest.mark.parametrize("function, x", ((doubled, np.ones(5)), (running, torch.ones(5))))
def test_nothing_else_holds_a_result(function, x):
    lifted = lift(function, backend="native", verify="off")
    found = [lifted(x, x.dtype) for _ in range(4)][1:]
    assert len({id(one) for one in found}) == 3
    assert all(sys.getrefcount(one) == sys.getrefcount(function(x, x.dtype)) + 2 for one in found)


def test_what_does_not_fit_raises_as_the_loop_does():
    with pytest.raises((MemoryError, ValueError)):
        lift(long_row, backend="native", verify="off")(2**60)
    with pytest.raises(RuntimeError):
        lift(two_tables, backend="native", verify="off")(2**40, 2**20)


def long_row(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i + 1.0
    return out


def swept(u, sweeps):
    for _ in range(sweeps):
        v = u.copy()
        for i in range(1, u.shape[0]):
            v[i] = v[i - 1] + u[i]
        u = v
    return u


def swept_tensor(u, sweeps):
    for _ in range(sweeps):
        v = u.clone()
        for i in range(1, u.shape[0]):
            v[i] = v[i - 1] + u[i]
        u = v
    return u


def crossed(n, steps):
    a, b = np.zeros(n), np.ones(n, dtype=np.float64)
    for t in range(steps):
        new = np.zeros(n)
        for i in range(1, n):
            new[i] = a[i - 1] + b[i] * t
        a, b = b, new
    return a, b


@pytest.mark.parametrize("x", (np.arange(5.0), np.arange(6.0).astype(np.float32)[::2], np.zeros(1), torch.arange(5)))
@pytest.mark.parametrize("sweeps", (0, 1, 4))
def test_an_array_that_is_bound_anew_is_copied_where_its_library_has_memory(x, sweeps):
    function = swept if isinstance(x, np.ndarray) else swept_tensor
    lifted: Any = lift(function, backend="native", verify="off")
    for _ in range(3):
        found, expected = lifted(x, sweeps), function(x, sweeps)
        assert (found is x) == (expected is x) and found.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        if found is not x:
            assert sys.getrefcount(found) == sys.getrefcount(expected)
        if isinstance(found, np.ndarray):
            assert found.flags.owndata == expected.flags.owndata
    assert "copy_out(" in lifted.source and "memory_of(" not in lifted.source


@pytest.mark.parametrize("sizes", ((0, 2), (4, 0), (4, 1), (5, 3)))
def test_arrays_that_change_places(sizes):
    lifted = lift(crossed, backend="native", verify="off")
    for found, expected in zip(lifted(*sizes), crossed(*sizes), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_threads():
    lifted, wrong = lift(running, backend="native", verify="off"), []
    lifted(torch.ones(3), torch.float32)

    def work(value):
        x = torch.full((50,), value)
        expected = running(x, torch.float32)
        wrong.extend(1 for _ in range(200) if not torch.equal(lifted(x, torch.float32), expected))

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_the_functions_are_found():
    assert all(getattr(arrays.maker(), name) for name, *_ in arrays.Maker._fields_)
