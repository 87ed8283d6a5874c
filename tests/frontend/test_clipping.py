"""Slices that end behind the end of what they cut: the last part of a row is shorter."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def sums(x, n):
    return torch.stack([x[i : i + n].sum() for i in range(0, len(x), n)])


def greatest(x, n):
    out = torch.zeros((len(x) + n - 1) // n)
    for k, i in enumerate(range(0, len(x), n)):
        out[k] = x[i : i + n].amax()
    return out


def spread(x, n):
    total = 0.0
    for i in range(0, len(x), n):
        part = x[i : i + n]
        total = total + (part - part.mean()).pow(2).sum()
    return total


def joined(x, n):
    return torch.cat([x[i : i + n] * i for i in range(0, len(x), n)])


def parts_of_rows(x, n):
    out = []
    for row in x:
        for j in range(0, x.shape[1], n):
            out.append(row[j : j + n].norm())
    return torch.stack(out).view(x.shape[0], -1)


def stored(x, n):
    out = torch.zeros_like(x)
    for i in range(0, len(x), n):
        out[i : i + n] = x[i : i + n] * 2 + i
        out[i : i + n] += 1
    return out


def at_places(x, n):
    return torch.stack([x[s : s + n].sum() for s in (0, 5, 9, 12, 10)])


def means(x, n):
    return np.array([x[i : i + n].mean() for i in range(len(x))])


X = torch.linspace(-1, 2, 11)
ROWS = torch.linspace(-1, 2, 33).reshape(3, 11)
CASES = [
    *((fn, X.clone().requires_grad_(g), n) for fn in (sums, greatest, spread) for g in (False, True) for n in (4, 11)),
    (sums, ROWS.T, 4), (sums, X, 30), (sums, X.double()[::2], 4), (spread, ROWS.T, 4), (joined, X, 4),
    (joined, ROWS.T, 5), (parts_of_rows, ROWS, 4), (parts_of_rows, ROWS.clone().requires_grad_(), 4),
    (at_places, X, 3), (means, X.numpy(), 3),
]  # fmt: skip


def run(fn, arguments):
    arguments = copy.deepcopy(arguments)
    result = fn(*arguments)
    leaves = [one for one in arguments if torch.is_tensor(one) and one.requires_grad]
    return result, torch.autograd.grad(result.sum(), leaves) if leaves else (), arguments


@pytest.mark.parametrize(("fn", "arguments"), [(fn, arguments) for fn, *arguments in CASES])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_the_last_part_may_be_short(fn, arguments, backend):
    lifted, want = lift(fn, verify="off", backend=backend), run(fn, arguments)
    for _ in range(3):  # the first call may find that slices end beyond the end
        assert difference(run(lifted, arguments), want) is None
    decisions = [loop.decision for loop in lifted.report().loops]
    assert decisions and "kept" not in decisions


@pytest.mark.parametrize(("x", "n"), [(X, 4), (ROWS.T, 2), (X, 11)])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_what_is_stored_ends_there_too(x, n, backend):
    lifted = lift(stored, verify="off", backend=backend)
    for _ in range(3):
        assert difference(lifted(x, n), stored(x, n)) is None


def test_one_function_takes_parts_of_any_lengths():
    lifted = lift(spread, verify="off")
    for length, n in ((12, 4), (13, 4), (12, 4), (3, 4), (17, 5), (0, 2)):
        x = torch.arange(float(length))
        assert difference(lifted(x, n), spread(x, n)) is None
