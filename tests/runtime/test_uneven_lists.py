"""Lists whose tensors have one shape in one call, and several in the next."""

from typing import Any

import torch

from looplift import lift


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
