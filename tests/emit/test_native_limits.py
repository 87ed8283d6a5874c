"""Numbers at the ends of their types: a kernel raises where the loop does, and counts as far."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def fill(x, value):
    for i in range(len(x)):
        x[i] = value
    return x


def whole(x, out):
    for i in range(len(x)):
        out[i] = int(x[i])
    return out


def below_one(x):
    for i in range(len(x)):
        x[i] = -0.5
    return x


def trips(first, limit, step):
    count = 0
    for _ in range(first, limit, step):
        count = count + 1
        if count > 5:
            break
    return count


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error)


def compared(function, start, *others):
    """A native kernel that is made for the first arguments, with all of them."""
    for arguments in (start, *others):
        lifted = lift(function, backend="native", verify="off")
        lifted(*copy.deepcopy(start))
        assert lifted.report().loops[0].decision == "native"
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None, arguments


INTEGERS = (torch.uint8, torch.int8, torch.int32, np.uint8, np.int8, np.int32, np.uint64)


def zeros(dtype):
    return torch.zeros(2, dtype=dtype) if isinstance(dtype, torch.dtype) else np.zeros(2, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_that_just_fit_or_do_not(dtype):
    info = torch.iinfo(dtype) if isinstance(dtype, torch.dtype) else np.iinfo(dtype)
    ends = (int(info.min), int(info.max))
    floats = [end + more for end in ends for more in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    compared(fill, (zeros(dtype), 1.5), *((zeros(dtype), value) for value in floats))
    integers = [end + more for end in ends for more in (-1, 0, 1) if abs(end + more) < 2**63]
    compared(fill, (zeros(dtype), 1), *((zeros(dtype), value) for value in integers))
    make = torch.tensor if isinstance(dtype, torch.dtype) else np.array
    compared(whole, (make([1.5, 1.5]), zeros(dtype)), *((make([v, v]), zeros(dtype)) for v in floats))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_constant_that_does_not_fit(dtype):
    lifted = lift(below_one, backend="native", verify="off")
    assert difference(outcome(lifted, (zeros(dtype),)), outcome(below_one, (zeros(dtype),))) is None


def test_ranges_longer_than_64_bits():
    others = [
        (0, -(2**63), -1),
        (-(2**63), 2**63 - 1, 1),
        (2**63 - 1, -(2**63), -3),
        (5, 5, 1),
        (-(2**63), 2**63 - 1, 2),
    ]
    compared(trips, (0, 10, 2), *others)


def counted_in(marks, values):
    for i in range(len(values)):
        marks[i] += values[i]
    return marks


def counted_twice(marks, values):
    for i in range(len(values)):
        marks[i // 2] *= 2
    return marks


@pytest.mark.parametrize("backend", ["native", "torch", "auto"])
@pytest.mark.parametrize("values", [torch.arange(3), torch.arange(6).reshape(3, 2)], ids=["numbers", "rows"])
def test_booleans_take_no_integers_in_place(values, backend):
    for function in (counted_in, counted_twice):
        for run in (function, lift(function, backend=backend, verify="off")):
            with pytest.raises(RuntimeError, match="can't be cast to the desired output type Bool"):
                run(torch.zeros(values.shape, dtype=torch.bool), values)


def test_unsigned_numbers_have_no_negative():
    def negated(x, out):
        for i in range(len(x)):
            out[i] = -x[i]
        return out

    for function in (negated, lift(negated, backend="native", verify="off")):
        with pytest.warns(RuntimeWarning, match="overflow encountered in scalar negative"):
            assert function(np.array([2**63], np.uint64), np.zeros(1, np.uint64))[0] == 2**63
