"""Stacks of stacks are written once, and are what the loop's are."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def rotations(angles):
    out = []
    for a in angles:
        c, s = torch.cos(a), torch.sin(a)
        out.append(torch.stack([torch.stack([c, -s]), torch.stack([s, c])]))
    return torch.stack(out)


def columns(angles):
    out = []
    for a in angles:
        out.append(torch.stack([torch.stack([a, a + 1, a * a]), torch.stack([a, a, a])], dim=1))
    return torch.stack(out)


def rows_of_rows(angles):
    out = torch.zeros(len(angles), 2, 2, 3)
    for k in range(len(angles)):
        v = torch.stack([angles[k], angles[k] * 2, angles[k] * 3])
        out[k] = torch.stack([torch.stack([v, v + 1]), torch.stack([v * v, v])])
    return out


@pytest.mark.parametrize("function", [rotations, columns, rows_of_rows], ids=lambda f: f.__name__)
def test_stacks_of_stacks(function):
    check(function, [torch.randn(5)], [torch.randn(1)])


def test_one_stack_is_written():
    lifted = lift(rotations, verify="off", backend="torch")
    lifted(torch.randn(4))
    assert lifted.source.count("torch.stack(") == 1
