"""Lists whose tensors have one shape in one call, and several in the next."""

from typing import Any

import numpy as np
import torch

from looplift import lift
from looplift.runtime.guards import has_one_shape


def sums(items):
    out = []
    for item in items:
        total = torch.zeros(item.shape[1])
        for row in item:
            total = total + torch.tanh(row)
        out.append(total)
    return torch.stack(out)


def rows(*lengths):
    return [torch.randn(length, 3) for length in lengths]


def test_even_lists_first():
    lifted: Any = lift(sums)
    for items in (rows(4, 4), rows(3, 2, 5), rows(2, 1, 2), rows(5, 5, 5), rows(6, 3), rows(2, 2)):
        torch.testing.assert_close(lifted(items), sums(items))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "lanes"]
    assert not any("given up" in note for loop in lifted.report().loops for note in loop.notes)


def test_uneven_lists_first():
    lifted: Any = lift(sums)
    for items in (rows(3, 2, 5), rows(4, 4), rows(1, 1), rows(2, 7)):
        torch.testing.assert_close(lifted(items), sums(items))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "lanes"]


def test_numbers_have_no_shape_that_a_guard_would_look_for_in_every_item():
    assert has_one_shape([1, np.int64(2), 0.5, "x"]) and has_one_shape([])
    assert has_one_shape(rows(2, 2)) and has_one_shape([np.zeros(3), np.ones(3)])
    assert not has_one_shape(rows(2, 3)) and not has_one_shape([torch.zeros(()), 1])
