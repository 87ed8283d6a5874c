"""What the loop raises for its values is no defect of looplift, though batched code raises it too."""

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def greatest(x):
    found = np.ones(4)
    for i in range(4):
        found[i] = x[i].max()
    return found


def tallied(labels):
    counts = torch.zeros(4, dtype=torch.int32)
    for i in range(len(labels)):
        counts[labels[i]] += 1
    return counts


def in_pairs(labels):
    counts = torch.zeros(4, 4, dtype=torch.int32)
    for i in range(0, len(labels) - 1, 2):
        counts[labels[i], labels[i + 1]] += 1
    return counts


@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "argument"),
    [(greatest, np.zeros((4, 0))), (tallied, torch.tensor([1, 4, 0, 1])), (in_pairs, torch.tensor([1, 4, 0, 1]))],
)
def test_the_report_says_that_it_is_the_loops_own(function, argument, backend, verify):
    lifted = lift(function, backend=backend, verify=verify)
    with pytest.raises((ValueError, IndexError)) as wanted:
        function(argument)
    for _ in range(4):
        with pytest.raises(type(wanted.value)) as found:
            lifted(argument)
        assert str(found.value) == str(wanted.value)
        assert [record.code for record in lifted.report().loops] == ["requirement"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_values_are_batched_afterwards(backend):
    lifted = lift(tallied, backend=backend, verify="off")
    with pytest.raises(IndexError):
        lifted(torch.tensor([1, 4, 0]))
    labels = torch.tensor([1, 3, 0])
    assert torch.equal(lifted(labels), tallied(labels))
