"""``sum(row)`` of Python adds items one after the other: dtypes, starts, rows without items, rows of rows."""

from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift


def plain(x):
    out = []
    for i in range(x.shape[0]):
        out.append(sum(x[i]))
    return out


def started(x):
    out = []
    for i in range(x.shape[0]):
        out.append(sum(x[i], 1))
    return out


def ragged(x):
    out = []
    for i in range(x.shape[0]):
        out.append(sum(x[0, i : 2 * i + 1]))
    return out


ARRAYS = [
    np.array([[200, 100], [100, 100]], np.uint8),
    np.array([[True, True], [False, True]]),
    np.array([[1.5, 2.5], [0.5, 1.0]]),
    np.arange(8.0).reshape(2, 2, 2),
    np.zeros((2, 0)),
]
TENSORS = [torch.from_numpy(array) for array in ARRAYS] + [torch.tensor([[1, 2], [3, 4]], dtype=torch.int32)]


@pytest.mark.parametrize("function", [plain, started, ragged])
@pytest.mark.filterwarnings("ignore:overflow")
def test_sums_are_the_loops(function):
    run: Any = lift(function, verify="off")
    for x in (*ARRAYS, *TENSORS):
        got, want = run(x), function(x)
        assert [*map(type, got)] == [*map(type, want)]
        for one, other in zip(got, want, strict=True):
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
            assert np.array_equal(one, other)


def test_rows_of_floats_are_lanes():
    run: Any = lift(plain, verify="off")
    run(torch.ones(3, 4))
    assert run.report().loops[0].decision == "lanes"


def test_sums_of_complex_numbers_that_are_not_finite_are_the_loop_s():
    def added(x):
        total = 0.0
        for i in range(len(x)):
            total = total + x[i]
        return total

    x = torch.tensor([[1.0, float("inf"), 2.0], [float("nan"), 1.0, -0.5]]).to(torch.complex64)
    for values in (x, x[:, 2:], x.flip(0)):
        want, got = added(values), lift(added, verify="off")(values)
        assert torch.equal(torch.view_as_real(got).nan_to_num(nan=7.0), torch.view_as_real(want).nan_to_num(nan=7.0))
