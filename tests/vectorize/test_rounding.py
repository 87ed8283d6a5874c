"""Values that are Python's numbers in some lanes and narrower tensors in others, where they decide something."""

from __future__ import annotations

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def by_place(v, y):
    out = torch.zeros(len(v))
    for i in range(len(v)):
        w, z, k = 1.5 * torch.norm(y), v[i].item(), 0
        while abs(z) > 0.1 and k < 5:
            if i >= 1:
                z = z * 0.5 + w
            else:
                z = z - 0.3
            k += 1
        out[i] += z * k
    return out


def by_value(v, y):
    out = torch.zeros(len(v))
    for i in range(len(v)):
        z, k = v[i].item(), 0
        while abs(z) > 0.1 and k < 9:
            if v[i] > 0.5:
                z = z * 0.5 + y[i]
            else:
                z = z - 0.3
            k += 1
        out[i] = z * k
    return out


def counted(v, y):
    out, counts = torch.zeros(len(v)), []
    for i in range(len(v)):
        z, n = 0.7, 0
        for t in range(6):
            if y[t % len(y)] > 0 and i > 1:
                z = z + v[i]
            else:
                z = z * 0.9 - 0.1
            if z > 0.2:
                n += 1
        out[i] = z
        counts.append(n)
    return out, counts


def converging(v, y):
    out, counts = torch.zeros(len(v)), []
    for i in range(len(v)):
        error, x, k = 1.0, v[i], 0
        while error > 1e-3 and k < 20:
            following = 0.5 * (x + y[i])
            error, x = abs(following - x), following
            k += 1
        out[i] = x
        counts.append(k)
    return out, counts


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("function", [by_place, by_value, counted, converging])
def test_what_decides_has_the_digits_of_the_loop(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        v, y = ((torch.randn(n, generator=generator) * 2).round() / 2 for n in (6, 6))
        for n in (6, 2, 1, 0, 6):
            wanted = function(v[:n], y[:n])
            assert difference(lifted(v[:n], y[:n]), wanted, magnitude=1) is None


@pytest.mark.parametrize("function", [converging])
def test_a_number_that_all_lanes_replace_stays_in_lanes(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.rand(6), torch.rand(6))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes", "sequential"}
