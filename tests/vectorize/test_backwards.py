"""Lists that are filled from their end, or read backwards behind the loop."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

import looplift
from looplift.base.compare import difference


def returns(r, keep):
    total, out = 0, []
    for t in reversed(range(len(r))):
        total = r[t] + 0.9 * keep[t] * total
        out.insert(0, total)
    return torch.stack(out)


def rows(r, keep):
    found = []
    for b in range(3):
        total = torch.zeros((), dtype=r.dtype)
        row = []
        for t in range(len(r) - 1, -1, -1):
            total = torch.sin(r[t] * b + keep[t] * total)
            row.insert(0, total)
        found.append(torch.stack(row))
    return torch.stack(found)


def listed(r, keep):
    out = []
    for t in range(len(r)):
        out.insert(0, torch.exp(r[t]) * keep[t])
    return out


def turned(r, keep):
    out = []
    for t in range(len(r)):
        out.append(torch.exp(r[t]) * keep[t])
    out.reverse()
    return torch.stack(out)


def sliced(r, keep):
    out = []
    for t in range(len(r)):
        out.append(r[t] * keep[t])
    return torch.stack(out[::-1]), len(out)


def numbers(r, keep):
    total, out = 0.0, []
    for v, k in zip(reversed(r.tolist()), reversed(keep.tolist())):
        if k < 0.5:
            total = 0
        total = v + 0.9 * total
        out.insert(0, total)
    return torch.tensor(out)


PROGRAMS = {returns: "scan", rows: "sequential", listed: "lanes", turned: "lanes", sliced: "lanes"}


def inputs(n):
    generator = torch.Generator().manual_seed(n)
    return torch.randn(n, generator=generator), (torch.rand(n, generator=generator) > 0.3).float()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_backwards(program):
    decisions = {PROGRAMS[program]} | ({"lanes"} if program is rows else set())
    check(program, *(list(inputs(n)) for n in (5, 1, 2, 9)), decisions=decisions)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("program", [listed, numbers], ids=lambda p: p.__name__)
def test_any_number_of_items(program, backend):
    lifted = looplift.lift(program, backend=backend)
    for n in (4, 0, 1, 7):
        assert difference(lifted(*inputs(n)), program(*inputs(n))) is None


def test_arrays():
    def decayed(x):
        total, out = 0.0, []
        for t in range(len(x) - 1, -1, -1):
            total = x[t] + 0.5 * total
            out.insert(0, total)
        return np.array(out)

    lifted = looplift.lift(decayed)
    for n in (6, 0, 1, 3):
        x = np.linspace(0, 1, n)
        assert difference(lifted(x), decayed(x)) is None


def test_a_list_of_two_names_and_one_with_items():
    def both(x):
        out = [x[0]]
        for v in x:
            out.insert(0, v * 2)
        return torch.stack(out)

    def named(x):
        out = []
        other = out
        for v in x:
            out.insert(0, v * 2)
        return other, out

    def between(x):
        out = []
        for v in x:
            out.insert(0, v * 2)
            if len(out) > 2:
                out.insert(1, v)
        return out

    for program in (both, named, between):
        lifted = looplift.lift(program)
        x = inputs(5)[0]
        got, wanted = lifted(x), program(x)
        assert difference(got, wanted) is None
        assert program is not named or got[0] is got[1]
