"""Tuples and lists of numbers that are stored into rows of arrays. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check


def tstore(o, v):
    for i in range(3):
        o[i] = (v[i], 2.5, i)
    return o


def tstore_int(o, v):
    for i in range(3):
        o[i] = [v[i], i, 7]
    return o


def tstore_trunc(o, v):
    for i in range(3):
        o[i] = [v[i], i, 7]
    return o


def tstore_wrong(o, v):
    for i in range(3):
        o[i] = [v[i], i, 7]
    return o


def tstore_one(o, v):
    for i in range(3):
        o[i] = [v[i]]
    return o


def tstore_bcast(o, v):
    for i in range(3):
        o[i] = [v[i], 4, 5]
    return o


def tstore_slice(o, v):
    for i in range(3):
        o[i, :] = [v[i], 4, 5]
    return o


def tstore_slice2(o, v):
    for i in range(3):
        o[i, 1:] = [v[i], 4]
    return o


def tstore_swap(o):
    for i in range(3):
        o[i] = [o[i, 2], o[i, 1], o[i, 0]]
    return o


def tstore_repeat(o, k):
    for i in range(3):
        o[k[i]] = [i, i, i]
    return o


def tstore_aug(o):
    for i in range(3):
        o[i] += [1, 2, i]
    return o


def tstore_torch(o):
    for i in range(3):
        o[i] = (i, 2)
    return o


def tstore_list(o):
    for i in range(3):
        o[i] = (i, 2)
    return o


CASES = [
    (
        tstore,
        (
            np.zeros((3, 3)),
            [1, 2, 3],
        ),
    ),
    (
        tstore_int,
        (
            np.zeros((3, 3), dtype=np.int32),
            [1, 2, 3],
        ),
    ),
    (
        tstore_trunc,
        (
            np.zeros((3, 3), dtype=np.int32),
            [1.7, -2.7, 3],
        ),
    ),
    (
        tstore_wrong,
        (
            np.zeros((3, 2)),
            [1, 2, 3],
        ),
    ),
    (
        tstore_one,
        (
            np.zeros((3, 1)),
            [1, 2, 3],
        ),
    ),
    (
        tstore_bcast,
        (
            np.zeros((3, 2, 3)),
            [1, 2, 3],
        ),
    ),
    (
        tstore_slice,
        (
            np.zeros((3, 3)),
            [1, 2, 3],
        ),
    ),
    (
        tstore_slice2,
        (
            np.zeros((3, 3)),
            [1, 2, 3],
        ),
    ),
    (tstore_swap, (np.arange(9.0).reshape(3, 3),)),
    (
        tstore_repeat,
        (
            np.arange(9.0).reshape(3, 3),
            [0, 0, 1],
        ),
    ),
    (tstore_aug, (np.arange(9.0).reshape(3, 3),)),
    (tstore_torch, (torch.zeros(3, 2),)),
    (tstore_list, ([None, None, None],)),
]

KEPT = frozenset("""tstore_wrong tstore_bcast tstore_aug tstore_torch tstore_list""".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)
