"""Blocks along the diagonal of a matrix, each of another size, that vectors of as many entries are added to."""

import pytest
import torch
from tests.vectorize.harness import check, check_backends

STARTS, ENDS = torch.tensor([0, 3, 1, 6]), torch.tensor([4, 6, 9, 9])
WIDE = torch.tensor([0, 3, 5]), torch.tensor([3, 6, 8])


def values(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_columns(k, v, s, e):
    for i in range(len(s)):
        k[s[i] : e[i], s[i] : e[i]] += v[s[i] : e[i]][:, None]
    return k


def subtracted(k, v, s, e):
    for i in range(len(s)):
        w = v[s[i] : e[i]] * 2
        k[s[i] : e[i], s[i] : e[i]] -= w[:, None]
    return k


def other_columns(k, v, s, e):
    n = len(s)
    for i in range(n):
        k[s[i] : e[i], s[n - 1 - i] : e[n - 1 - i]] += v[s[i] : e[i]][:, None]
    return k


def by_rows(k, v, s, e):
    for i in range(len(s)):
        k[s[i] : e[i], s[i] : e[i]] += v[s[i] : e[i]][None, :]
    return k


def by_blocks(k, v, s, e):
    for i in range(len(s)):
        k[s[i] : e[i], s[i] : e[i]] += v[s[i] : e[i]]
    return k


@pytest.mark.parametrize("loop", [by_columns, subtracted, other_columns])
def test_columns_are_added_to_blocks(loop):
    check(loop, [values(9, 9), values(9, seed=1), STARTS, ENDS], gradients=False)


@pytest.mark.parametrize("loop", [by_columns, subtracted, other_columns, by_rows])
def test_vectors_on_all_backends(loop):
    everywhere = {"auto", "torch", "native"}
    check_backends(loop, [values(9, 9), values(9, seed=1), STARTS, ENDS], kept=everywhere)
    arrays = [one.numpy() for one in (values(9, 9), values(9, seed=1), STARTS, ENDS)]
    check_backends(loop, arrays, kept=everywhere)


def test_rows_of_one_length_beside_blocks_of_that():
    check_backends(by_blocks, [values(9, 9), values(9, 3), *WIDE], kept={"auto", "torch", "native"})
    check_backends(by_blocks, [values(9, 9), values(9), *WIDE], kept={"auto", "torch", "native"})
