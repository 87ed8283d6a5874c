"""Masks that always hold, and integers that look like them."""

from __future__ import annotations

import torch
from tests.vectorize.harness import check


def joined_to_their_complement(x, out):
    for i in range(len(x)):
        out[i] = x[i] | ~x[i]
    return out


def numbers_and_their_complement(n):
    joined = []
    for i in range(n):
        joined.append(i | ~i)
    return joined


def counted_rows(x, out):
    for i in range(len(x)):
        out[i] = (x[i] | ~x[i]).sum()
    return out


def test_an_integer_or_its_complement_is_minus_one():
    check(joined_to_their_complement, [torch.arange(4), torch.zeros(4, dtype=torch.int64)], decisions={"lanes"})
    check(numbers_and_their_complement, [4], decisions={"lanes"})


def test_rows_keep_their_shape():
    rows = torch.arange(12).view(4, 3) % 2 == 0
    check(joined_to_their_complement, [rows, torch.zeros(4, 3, dtype=torch.bool)], decisions={"lanes"})
    check(counted_rows, [rows, torch.zeros(4, dtype=torch.int64)], decisions={"lanes"})
