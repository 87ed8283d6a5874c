"""Loops that look for the best candidate, and keep what belongs to it."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

import looplift
from looplift.base.compare import difference


def most_alike(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        best, row = -1.0, x[i]
        for j in range(len(x)):
            score = torch.dot(x[i], x[j])
            if j != i and score > best:
                best, row = score, x[j]
        out[i] = row
    return out


def nearest_of_some(x):
    out = []
    for i in range(len(x)):
        best, place = float("inf"), -1
        for j in range(len(x)):
            distance = (x[i] - x[j]).norm()
            if j != i and x[j, 0] > 0 and distance <= best:
                best, place = distance, j
        out.append(place)
    return out


def greatest_behind(x):
    out, count = torch.zeros(len(x)), 0
    for i in range(len(x)):
        best = 0.5
        for j in range(x.shape[1]):
            value = x[i, j] * x[i].sum()
            if i <= j and best < value:
                best = value
                count += 1
        out[i] = best
    return out, count


def nearest_array(x):
    a = x.detach().numpy()
    out = np.zeros(len(a), dtype=int)
    for i in range(len(a)):
        best, place = 1e9, -1
        for j in range(len(a)):
            distance = np.abs(a[i] - a[j]).sum()
            if i != j and distance < best:
                best, place = distance, j
        out[i] = place
    return out


def inputs():
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(n, m, generator=generator) for n, m in ((7, 6), (5, 5), (1, 3))]
    return [*drawn, torch.zeros(4, 3), torch.ones(4, 4), -torch.ones(4, 4)]


PROGRAMS = [most_alike, nearest_of_some, greatest_behind, nearest_array]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_condition_beside_the_comparison(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for x in [*inputs(), torch.full((3, 3), float("nan"))]:
        assert difference(lifted(x), program(x)) is None
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "scan"]


@pytest.mark.parametrize("program", [most_alike, greatest_behind], ids=lambda p: p.__name__)
def test_gradients_of_the_winner(program):
    check(program, *([x] for x in inputs()[:2]), decisions={"lanes", "scan"})
