"""A float is no place in a list or tuple, not even one that equals an integer: the loop's own error comes."""

import pytest
import torch

from looplift import lift


def of_list(x, y):
    k = [3, 4][-0.0]
    for i in range(len(x)):
        x[i] = y[i] + k
    return x


def of_sizes(x, y):
    k = y.shape[0.0]
    for i in range(len(x)):
        x[i] = y[i] + k
    return x


def by_variable(x, y):
    for i in range(len(x)):
        x[i] = y[i] + (3, 4, 5)[i * 1.0]
    return x


@pytest.mark.parametrize("program", [of_list, of_sizes, by_variable])
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_floats_are_no_places(program, backend):
    lifted = lift(program, backend=backend, verify="off")
    for _ in range(2):
        with pytest.raises(TypeError, match="indices must be integers or slices, not float"):
            lifted(torch.zeros(3), torch.ones(3))
