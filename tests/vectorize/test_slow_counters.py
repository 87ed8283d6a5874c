"""Counters that a loop which stays carries need no check in each iteration; other integers do."""

import pytest
import torch

import looplift
from looplift.base.compare import difference


def counted(x):
    out = []
    for i in range(len(x)):
        n, m, v = 0, 7, x[i]
        while v > 0.01:
            v = v * 0.5
            if v > 0.3:
                m = 5
            else:
                m = m - 3
            n += 1
        out.append(n * 1000 - m)
    return out


def left(x):
    out = []
    for i in range(len(x)):
        n = 0
        for t in range(40):
            if x[i] * t > 3:
                break
            n = 2 + n
        out.append(n)
    return out


def large(x):
    out = []
    for i in range(len(x)):
        n, v = 2**61, x[i]
        while v > 0.01:
            v = v * 0.5
            n += 1
        out.append(n)
    return out


def doubled(x):
    out = []
    for i in range(len(x)):
        n, v = 1, x[i]
        while v > 1e-30:
            v = v * 0.5
            n = n + n
        out.append(n)
    return out


@pytest.mark.parametrize(("program", "checks"), [(counted, 0), (left, 0), (large, 2), (doubled, 2)])
def test_checks_of_carried_integers(program, checks):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for n in (1, 2, 20, 0):
        x = torch.rand(n, generator=torch.Generator().manual_seed(n), dtype=torch.float64) * 0.9 + 0.02
        for _ in range(2):
            assert difference(lifted(x), program(x)) is None
    assert lifted.source.count(f"{2**62}") >= checks
    assert checks or f"{2**62}" not in lifted.source


def grown(x, first):
    out = []
    for i in range(len(x)):
        n = first
        for j in range(30):
            if x[i] > 0.5:
                n += j
        out.append(n)
    return out


def grown_in_while(x, first):
    out = []
    for i in range(len(x)):
        n, v = first, x[i]
        while v > 0.01:
            v = v * 0.5
            for j in range(3):
                n += j
        out.append(n)
    return out


@pytest.mark.parametrize("program", [grown, grown_in_while], ids=lambda p: p.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_sums_that_leave_64_bits(program, backend):
    lifted = looplift.lift(program, verify="off", backend=backend)
    x = torch.tensor([0.9, 0.2, 1e6, 0.7], dtype=torch.float64)
    for first in (0, 2**62 - 1, 2**63 - 10, -(2**63), 2**70):
        for _ in range(2):
            assert lifted(x, first) == program(x, first)


def constant_start(x):
    out = []
    for i in range(len(x)):
        n = 2**63 - 20
        for j in range(30):
            if x[i] > 0.5:
                n += j
        out.append(n)
    return out


def test_a_constant_before_a_sum():
    x = torch.tensor([0.9, 0.2], dtype=torch.float64)
    assert looplift.lift(constant_start, verify="off", backend="torch")(x) == constant_start(x)
