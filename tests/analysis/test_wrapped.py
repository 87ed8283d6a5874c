"""NumPy's functions of tensors: what they make is the loop's, where PyTorch's functions would make another tensor."""

import warnings

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def signs(x):
    return [np.sign(row) for row in x]


def sum_of_signs(x):
    total = 0.0
    for i in range(len(x)):
        total = total + float(np.sign(x[i, 0]))
    return total


def questions(x):
    return [(np.isnan(row), np.isfinite(row), np.signbit(row)) for row in x]


def inverted(x):
    count = 0
    for value in x[:, 0]:
        if ~np.isnan(value):
            count += 1
    return count


def compared(x):
    return [np.greater(row, 0) for row in x]


def roots(x):
    return [np.sqrt(np.abs(row)) for row in x]


def steps(x):
    return [np.heaviside(row, 0.5) for row in x]


def greatest(x):
    return [np.argmax(row) for row in x]


def asked(x):
    count = 0
    for i in range(len(x)):
        if np.isnan(x[i, 0]):
            continue
        if not np.isfinite(x[i, 1]) or np.greater(x[i, 1], 0):
            count += 1
    return count


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    "function", [signs, sum_of_signs, questions, inverted, compared, roots, steps, greatest, asked]
)
def test_of_tensors(function, backend):
    x = torch.tensor([[1.0, -2.0], [float("nan"), 0.0], [-0.0, float("inf")], [2.0, 3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy says that tensors make arrays of theirs in an old way
        for given in (x, x.double(), x.nan_to_num(0, 9).long()):
            lifted = lift(function, backend=backend, verify="off")
            for _ in range(2):
                assert difference(lifted(given), function(given)) is None
    if function in (greatest, asked) and backend != "native":
        assert [one.decision for one in lifted.report().loops] == ["lanes"]


def greatest_places(x):
    out = []
    for i in range(len(x)):
        out.append(np.argmax(x[i]))
    return out


def absolutes(x):
    out = []
    for i in range(len(x)):
        out.append(np.abs(x[i]) * x[i])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [greatest_places, absolutes])
def test_of_tensors_that_ask_for_gradients_they_raise(function, backend):
    x = torch.tensor([[1.0, -2.0], [3.0, 0.0]])
    lifted = lift(function, backend=backend, verify="off")
    assert difference(lifted(x), function(x)) is None
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="requires grad"):
        function(x)
    with pytest.raises(RuntimeError, match="requires grad"):
        lifted(x)


def of_bytes(x):
    return [np.isnan(row) for row in x], [np.logical_not(row) for row in x]


def test_tests_of_bytes_are_bytes():
    x = torch.tensor([[1, 0], [3, 2]], dtype=torch.uint8)
    for backend in ("torch", "native", "auto"):
        assert difference(lift(of_bytes, backend=backend, verify="off")(x), of_bytes(x)) is None
        assert of_bytes(x)[0][0].dtype == torch.uint8
