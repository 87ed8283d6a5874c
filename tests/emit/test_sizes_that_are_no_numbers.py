"""Arrays whose sizes are truth values, for which NumPy and PyTorch mostly raise."""

import numpy as np
import pytest
import torch

from looplift import lift


def an_array_before(x, k):
    found = np.zeros(k)
    for t in range(len(x)):
        found[t % k] = x[t, 0]
    return found


def a_tensor_before(x, k):
    found = torch.zeros(k, 3)
    for t in range(len(x)):
        found[t % k] = float(x[t, 0])
    return found


def arrays_inside(x, k):
    total = 0.0
    for t in range(len(x)):
        total += np.full((3, k), 2.0)[0, 0] * x[t, 0] + np.eye(k)[0, 0]
    return total


def tensors_inside(x, k):
    found = []
    for t in range(len(x)):
        row = torch.ones(k, 2)
        row[0] = float(x[t, 0])
        found.append(row)
    return found


def of_a_comparison(x, k):
    total = 0.0
    for t in range(len(x)):
        total += np.zeros((2, t < 9))[0, 0] + x[t, 0] * k
    return total


def by_name(x, k):
    found = {}
    for t in range(len(x)):
        name = "even" if t % 2 == 0 else "odd"
        if name not in found:
            found[name] = np.zeros(k)
        found[name][0] += x[t, 0]
    return found


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("backend", ["native", "auto"])
@pytest.mark.parametrize(
    "loop", [an_array_before, a_tensor_before, arrays_inside, tensors_inside, of_a_comparison, by_name]
)
def test_a_size_that_is_a_truth_value(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    x = np.arange(12.0).reshape(4, 3)
    for size in (True, 1, True, 2, False, np.True_):
        assert outcome(lifted, x, size) == outcome(loop, x, size), size
