"""Which tensors and arrays share memory, and what a lifted loop makes of those that do."""

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.memory import apart, own_places


def doubled(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 2
    return b


def running(a, b):
    for i in range(1, len(a)):
        b[i] = a[i] * 2 + b[i - 1]
    return b


def overlapping(kind):
    """Two values over one memory, the second one place further."""
    memory = np.arange(9.0)
    tensor = torch.from_numpy(memory)
    return {
        "tensors": lambda: (tensor[:-1], tensor[1:]),
        "lent": lambda: (torch.from_numpy(memory[:-1]), torch.from_numpy(memory[1:])),
        "arrays": lambda: (memory[:-1], memory[1:]),
        "array and tensor": lambda: (memory[:-1], tensor[1:]),
    }[kind]()


KINDS = ["tensors", "lent", "arrays", "array and tensor"]


@pytest.mark.parametrize("kind", KINDS)
def test_overlapping_memory_is_not_apart(kind):
    first, second = overlapping(kind)
    assert not apart(first, second) and not apart(second, first)
    assert apart(first, np.ones(9)) and apart(torch.ones(9), second)
    assert apart(torch.ones(0), torch.ones(0))


@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loop", [doubled, running])
def test_a_loop_over_overlapping_memory_keeps_its_results(loop, kind, verify):
    for warm in (False, True):
        lifted = lift(loop, verify=verify)
        if warm:
            lifted(torch.arange(8.0, dtype=torch.float64), torch.zeros(8, dtype=torch.float64))
        for _ in range(2):
            wanted, given = overlapping(kind), overlapping(kind)
            loop(*wanted)
            lifted(*given)
            for ours, theirs in zip(given, wanted, strict=True):
                assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def test_places_of_elements():
    assert own_places(torch.ones(3, 4)) and own_places(torch.ones(3, 4).T) and own_places(np.ones((3, 4))[:, ::-2])
    assert not own_places(torch.ones(1).expand(3)) and not own_places(torch.ones(9).unfold(0, 3, 1))
    assert own_places(torch.ones(0, 3)) and own_places(torch.ones(1).expand(1))
