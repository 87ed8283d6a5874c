"""Dicts that loops fill key by key."""

from __future__ import annotations

import re

import pytest
import torch
from tests.vectorize.harness import check, outcome
from tests.vectorize.test_distribution import matrix

from looplift import lift
from looplift.base.compare import difference


def similarities(x):
    n = x.shape[0]
    near = {}
    for i in range(n):
        for j in range(n):
            near[i, j] = torch.dot(x[i], x[j])
    total = torch.zeros((), dtype=x.dtype)
    for i in range(n):
        rest = torch.zeros((), dtype=x.dtype)
        for k in range(n):
            if k != i:
                rest = rest + torch.exp(-near[i, k].abs())
        total = total + near[i, (i + 1) % n] - torch.log(rest + 1)
    return total / n


def centred(x):
    means = {}
    for i in range(x.shape[0]):
        means[i] = x[i].mean() * 2
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] - means[i]
    return out


def comprehension(x):
    norms = {i: x[i].norm() for i in range(len(x))}
    return torch.stack([x[i] / norms[len(x) - 1 - i] for i in range(len(x))])


def cubes(x):
    table = dict()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(2):
                table[i, j, k] = x[i, j] * (k + 1)
    total = 0.0
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            total = total + table[i, j, 1] * table[0, j, 0]
    return total


@pytest.mark.parametrize("function", [similarities, centred, comprehension, cubes])
def test_keys_that_are_indices(function):
    check(function, [matrix(5, 4)], [matrix(2, 3)], [matrix(3, 1)], decisions={"lanes"})


def tile_means(x, step):
    rows, columns = x.shape
    means = {}
    for i in range(0, rows, step):
        for j in range(0, columns, 2):
            total, count = 0.0, 0
            for y in range(i, min(i + step, rows)):
                for z in range(j, min(j + 2, columns)):
                    total += float(x[y, z])
                    count += 1
            means[i // step, j // 2] = total / count
    out = torch.zeros_like(x)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = x[i, j] - means[i // step, j // 2]
    return out


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("step", [1, 2, 7])
def test_keys_that_count_the_steps_of_a_range(step, backend):
    lifted = lift(tile_means, backend=backend)
    for rows, columns in ((5, 4), (2, 3), (1, 1), (0, 2)):
        x = matrix(rows, columns).detach()
        torch.testing.assert_close(lifted(x, step), tile_means(x, step))
    reported = lifted.report().loops
    assert {loop.decision for loop in reported} <= {"native", "lanes"}


def multiples(x, step):
    seen = {}
    for i in range(len(x)):
        seen[i * step // step] = x[i] * 2
    return torch.stack([seen[i] for i in range(len(x))])


def coarser(x, step):
    seen = {}
    for i in range(0, len(x), step):
        seen[i // step] = x[i] * 2
    return torch.stack([seen[i // (step - 1)] for i in range(len(x))])


@pytest.mark.parametrize("function", [multiples, coarser])
def test_keys_that_count_but_fail(function):
    lifted = lift(function, backend="torch")
    for step in (3, 2, 0, -2):
        values = [matrix(4, 3), step]
        try:
            wanted = outcome(function, values, gradients=True)
        except (ZeroDivisionError, KeyError, ValueError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                lifted(*values)
        else:
            assert not difference(outcome(lifted, values, gradients=True), wanted, magnitude=1.0)


def negative(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    return torch.stack([seen[i - 1] for i in range(len(x))])


def too_large(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    return torch.stack([seen[i + 1] for i in range(len(x))])


def by_tensors(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    places = torch.arange(len(x))
    return torch.stack([seen[places[i]] for i in range(len(x))])


def by_numbers(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    places = torch.arange(len(x)).flip(0)
    return torch.stack([seen[places[i].item()] for i in range(len(x))])


def one_tuple(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    return torch.stack([seen[(i,)] for i in range(len(x))])


def in_halves(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    for i in range(len(x) // 2):
        seen[i] = seen[i] + 1
    return torch.stack([seen[i] for i in range(len(x))])


def later_ones(x):
    seen = {}
    for i in range(1, len(x)):
        seen[i] = x[i] * 2
    return torch.stack([seen[i] for i in range(len(x))])


def some(x):
    seen = {}
    for i in range(len(x)):
        if x[i].sum() > 0:
            seen[i] = x[i] * 2
    return torch.stack([seen[i] if i in seen else x[i] for i in range(len(x))])


def given_back(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    return seen, len(seen)


def chain(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] if i == 0 else seen[i - 1] * 0.5 + x[i]
    return seen[len(x) - 1]


def grouped(x):
    sums = {}
    for i in range(len(x)):
        key = int(x[i, 0] > 0)
        sums[key] = sums.get(key, 0.0) + x[i]
    return sums


ALL = [negative, too_large, by_tensors, by_numbers, one_tuple, in_halves, later_ones, some, given_back, chain, grouped]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_other_dicts_stay_right(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for values in ([matrix(4, 3)], [matrix(2, 2)], [matrix(1, 1)]):
        wanted = _outcome(function, values)
        for _ in range(2):
            why = difference(_outcome(lifted, values), wanted, magnitude=1.0)
            assert not why, why


def _outcome(function, values):
    try:
        return outcome(function, values, gradients=True)
    except (KeyError, IndexError) as error:
        return type(error).__name__, len(error.args)
