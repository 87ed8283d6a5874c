"""What is read behind a store that stands in no loop may be a view of what the store writes to."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def summed_and_overwritten(out, element, x, n):
    for j in range(1, n):
        out[j] = sum([x[j] for p in range(3)])
        out[j] = torch.tanh(element)
    return out


def overwritten(out, element, x, n):
    for j in range(1, n):
        out[j] = x[j] * 2
        out[j] = torch.tanh(element)
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [summed_and_overwritten, overwritten])
def test_elements_of_what_is_written_to(function, backend):
    lifted, x = lift(function, backend=backend, verify="off"), torch.linspace(0.1, 1, 5, dtype=torch.float64)
    for place in (0, 2, 3, 2):
        own, other = torch.zeros(5, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
        found, wanted = lifted(own, own[place], x, 5), function(other, other[place], x, 5)
        assert difference(found, wanted, magnitude=1) is None
        assert found is own
