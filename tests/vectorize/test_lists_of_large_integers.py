"""``tolist`` of integers of 64 bits without a sign: Python's go on where those with a sign end."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends

SMALL = np.array([[5, 3], [1, 9], [4, 2]], dtype=np.uint64)
LARGE = np.array([[2**63 + 5, 3], [1, 2**64 - 1], [4, 2]], dtype=np.uint64)


def remainders(x):
    out = []
    for i in range(len(x)):
        for v in x[i].tolist():
            out.append(v % 10)
    return out


def rows(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].tolist())
    return out


def chosen(x):
    out = []
    for i in range(len(x)):
        if i != 1:
            row = x[i].tolist()
            out.append(row[i % 2])
    return out


def matrices(x):
    out = []
    for i in range(2):
        out.append(x[i : i + 2].tolist())
    return out


@pytest.mark.parametrize("loop", [remainders, rows, chosen, matrices])
def test_integers_past_those_with_a_sign(loop):
    for given in (SMALL, LARGE):
        check_backends(loop, [given], kept={"auto", "torch", "native"})
        check_backends(loop, [torch.tensor(given)], kept={"auto", "torch", "native"})


@pytest.mark.parametrize("loop", [remainders, rows])
def test_integers_in_range_stay_lifted(loop):
    check_backends(loop, [SMALL])
