"""What nothing reads raises only where the loop computes it: not behind a condition that did not hold."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check_backends


def left_before_it_is_kept(x, c):
    total = torch.tensor(0.0)
    for i in range(x.shape[0]):
        more = total + x[i]
        if c[i]:
            break
        total = more
    return total


def by_numbers(x, c):
    total = 0.0
    for i in range(x.shape[0]):
        more = total + x[i].item()
        if c[i]:
            break
        total = more
    return total


def with_another(x, c):
    total = torch.tensor(0.0)
    for i in range(c.shape[0]):
        if c[i]:
            unread = x[i] * 2  # noqa: F841
            break
        total = total + i
    return total


@pytest.mark.parametrize("function", [left_before_it_is_kept, by_numbers, with_another])
def test_nothing_is_read_behind_the_end(function):
    none, third = torch.zeros(5, dtype=torch.bool), torch.tensor([False, False, True, False, True])
    check_backends(function, [torch.rand(5), none], [torch.rand(5), third], [torch.rand(5), ~none])


def test_what_the_loop_reads_raises():
    third = torch.tensor([False, False, True, False])
    kept = {"auto", "torch", "native"}
    check_backends(
        with_another, [torch.rand(5), third], [torch.rand(2), third], [torch.rand(2), third & False], kept=kept
    )
