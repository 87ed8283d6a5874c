"""Whether an array, list or set holds a value. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

T = torch.tensor([[0.1, 2, 3], [5, 1, 2], [0, 0, 4.0]])
Y = torch.tensor([2, 2, 0])


def top2(x, y):
    hits = 0
    for i in range(len(x)):
        _, top = x[i].topk(2)
        if y[i] in top:
            hits += 1
    return hits


def top2_np(x, y):
    hits = 0
    for i in range(len(x)):
        top = np.argsort(x[i])[::-1][:2]
        if y[i] in top:
            hits += 1
    return hits


def notin(x, y):
    out = []
    for i in range(len(x)):
        out.append(y[i] not in x[i])
    return out


def number(x, y):
    out = []
    for i in range(len(x)):
        out.append(y[i] in x[i])
    return out


def nan(x, y):
    out = []
    for i in range(len(x)):
        out.append(y[i] in x[i])
    return out


def rows(x, y):
    out = []
    for i in range(len(x)):
        out.append(y[i] in x)
    return out


def rows_np(x, y):
    out = []
    for i in range(len(x)):
        out.append(y[i] in x)
    return out


def tolist(x, y):
    hits = 0
    for i in range(len(x)):
        if y[i].item() in x[i].topk(2).indices.tolist():
            hits += 1
    return hits


def torchint(x, y):
    hits = 0
    for i in range(len(x)):
        if y[i] in x[i].int():
            hits += 1
    return hits


def isin(a, s):
    out = []
    for v in a:
        if v not in s:
            out.append(v)
    return out


def isin_list(a, s):
    out = []
    for v in a:
        if v not in s:
            out.append(v)
    return out


def isin_set(a, s):
    n = 0
    for v in a:
        if v in s:
            n += 1
    return n


def isin_set2(a, s):
    return [v for v in a if v in s]


def number_if(x, y):
    out = torch.zeros(3)
    for i in range(len(x)):
        if x[i, 0] > 0 and y[i] in x[i]:
            out[i] = 1
        elif y[i] not in x:
            out[i] = 2
    return out


def grad(x, y):
    s = torch.zeros(())
    for i in range(len(x)):
        if y[i] in x[i].detach():
            s = s + (x[i] ** 2).sum()
    return s


def npfloat(x, y):
    return [v in r for v, r in zip(y, x)]


def empty(x, y):
    return [v in r for v, r in zip(y, x)]


def uint(x, y):
    return [bool(v in r) for v, r in zip(x, y)], [v in y for v in x]


def bools(x, y):
    return [v in x for v in y]


CASES = [
    (
        top2,
        (
            T,
            Y,
        ),
    ),
    (
        top2_np,
        (
            T.numpy(),
            Y.numpy(),
        ),
    ),
    (
        notin,
        (
            T,
            Y,
        ),
    ),
    (
        number,
        (
            T,
            [0, 3, 2],
        ),
    ),
    (
        nan,
        (
            T * float("nan"),
            [0, 3, float("nan")],
        ),
    ),
    (
        rows,
        (
            T,
            T,
        ),
    ),
    (
        rows_np,
        (
            T.numpy(),
            T.numpy(),
        ),
    ),
    (
        tolist,
        (
            T,
            Y,
        ),
    ),
    (
        torchint,
        (
            T,
            Y,
        ),
    ),
    (
        isin,
        (
            np.array([1, 2, 3, 9]),
            np.array([2, 9]),
        ),
    ),
    (
        isin_list,
        (
            np.array([1, 2, 3, 9]),
            [2, 9],
        ),
    ),
    (
        isin_set,
        (
            np.array([1, 2, 3, 9]),
            {2, 9},
        ),
    ),
    (
        isin_set2,
        (
            [1, 2, 3, 9],
            {2, 9},
        ),
    ),
    (
        number_if,
        (
            T,
            [0, 3, 2],
        ),
    ),
    (
        grad,
        (
            T.clone().requires_grad_(),
            Y,
        ),
    ),
    (
        npfloat,
        (
            np.array([[1, 2], [3, 4.5]]),
            [1.0, 4.5],
        ),
    ),
    (
        empty,
        (
            torch.zeros(2, 0),
            [1.0, 4.5],
        ),
    ),
    (
        uint,
        (
            torch.arange(3),
            torch.arange(6).view(3, 2) % 3,
        ),
    ),
    (
        bools,
        (
            torch.arange(3),
            [True, False],
        ),
    ),
]
KEPT = frozenset("""nan rows rows_np tolist isin uint""".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)
