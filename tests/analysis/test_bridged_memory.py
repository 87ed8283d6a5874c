"""Arrays that are filled anew before the backward pass: gradients are those of what the loop read."""

import numpy as np
import pytest
import torch

from looplift import lift


def indexed(x, numbers):
    total = 0.0
    for j in numbers:
        total = total + (x[j] ** 2).sum()
    return total


def scaled(x, numbers):
    return torch.stack([x[i] * numbers[i].item() for i in range(len(numbers))]).sum()


def picked(x, numbers):
    loss = 0.0
    for i in range(len(numbers)):
        loss = loss - torch.log_softmax(x[i], 0)[numbers[i]]
    return loss


def chosen(x, numbers):
    found = []
    for i in range(len(numbers)):
        if numbers[i] > 1:
            found.append(x[i] ** 2)
    return torch.stack(found).sum()


def copies(x, numbers):
    total = 0.0
    for i in range(len(numbers)):
        total = total + (x[i] * torch.tensor(numbers[i])).sum()
    return total


def shown(x, rows):
    total = 0.0
    for i in range(len(rows)):
        total = total + (x[i] * torch.from_numpy(rows[i])).sum()
    return total


def again(x, numbers, generator):
    total = 0.0
    for _ in range(3):
        generator.shuffle(numbers)
        for j in numbers[:2]:
            total = total + (x[j] ** 2).sum()
    return total


def slopes(function, *values):
    x = torch.arange(15.0).reshape(5, 3).requires_grad_()
    result = function(x, *values)
    values[0][:] = 0
    result.backward()
    return x.grad


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [indexed, scaled, picked, chosen, copies])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64])
def test_numbers_of_the_time_of_the_call(function, dtype, backend):
    if dtype is np.float64 and function in (indexed, picked):
        pytest.skip("floats are no indices")
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        numbers = np.array([1, 2, 2], dtype)
        torch.testing.assert_close(slopes(lifted, numbers.copy()), slopes(function, numbers.copy()))


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_tensors_in_the_memory_of_arrays_show_how_these_change(backend):
    lifted = lift(shown, verify="off", backend=backend)
    for _ in range(2):
        rows = np.arange(9, dtype=np.float32).reshape(3, 3)
        torch.testing.assert_close(slopes(lifted, rows.copy()), slopes(shown, rows.copy()))


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_arrays_that_change_in_the_loop_around(backend):
    lifted, found = lift(again, verify="off", backend=backend), []
    for function in (lifted, again):
        x = torch.arange(15.0).reshape(5, 3).requires_grad_()
        function(x, np.arange(5), np.random.RandomState(1)).backward()
        found.append(x.grad)
    torch.testing.assert_close(*found)
