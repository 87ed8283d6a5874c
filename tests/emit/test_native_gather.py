"""Kernels with subscripts by vectors of positions: rows that change places, sparse products, scattered stores."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def pivoted(a, n):
    for k in range(n):
        p = np.argmax(np.abs(a[k:, k])) + k
        if p != k:
            a[[k, p]] = a[[p, k]]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return a


def pivoted_tensor(a, n):
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        a[[k, p]] = a[[p, k]]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return a


def exchanged(x, n):
    for k in range(n):
        p = (k * 7 + 3) % n
        x[[k, p]] = x[[p, k]]
        x[[0, -1 - k]] = x[[-1 - k, 0]]
    return x


def sparse_product(values, x, columns, starts):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        chosen = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[chosen]
    return y


def sparse_product_of_tensors(values, x, columns, starts):
    y = torch.zeros(len(starts) - 1, dtype=values.dtype)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        y[i] = torch.dot(values[first:last], x[columns[first:last]])
    return y


def in_columns(x, chosen, n):
    total, rows = 0.0, np.zeros(len(chosen))
    while n > 0:
        n -= 1
        total += x[chosen, n].sum() + x[n, chosen].sum() + x[n][chosen].sum()
        rows = rows + x[:, chosen][n] + x[chosen][1, : len(chosen)]
    return total, rows


def copies_stay(x, chosen, n):
    total = 0.0
    while n > 0:
        n -= 1
        found = x[chosen]
        x[1], chosen[0] = 5.0 + n, n
        total += found.sum()
        found[0] = 7.0
        total += x.sum() + found.sum()
    return total, x, chosen


def scattered_with_repeats(x, chosen, n):
    while n > 0:
        n -= 1
        x[chosen] = x[chosen] * 2 + np.arange(len(chosen))
        x[[n, 0]] = 3.5
    return x


def broadcast_rows(x, chosen, n):
    while n > 0:
        n -= 1
        x[[n, n + 1]] = x[n + 2] * 2
        x[[n, n + 1]] = x[[n + 1, n]]
    return x


def through_itself(x, chosen, n):
    while n > 0:
        n -= 1
        x[chosen] = chosen[x]
    return x, chosen


def levinson(r):
    y = torch.zeros_like(r)
    alpha, beta = -r[0], torch.ones((), dtype=r.dtype)
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta = (1 - alpha * alpha) * beta
        alpha = -(r[k] + torch.dot(r[:k].flip(0), y[:k])) / beta
        y[:k] = y[:k] + alpha * y[:k].flip([0])
        y[k] = alpha
    return y


def numbers(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64)


def without_gaps(x):
    out = np.full((x.shape[1], x.shape[1]), np.nan)
    for i in range(x.shape[1]):
        for j in range(i, x.shape[1]):
            a, b = x[:, i], x[:, j]
            both = ~np.isnan(a) & ~np.isnan(b)
            if both.sum() < 3:
                continue
            u, v = a[both], b[both]
            out[i, j] = out[j, i] = ((u - u.mean()) * (v - v.mean())).sum()
    return out


def where_it_is_great(x, limit):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        great = x[i] > limit
        out[i][great] = x[i][great] * 2
        out[i, ~great] = -1
        out[i, 0] = x[i][great].sum() + len(x[i][great])
    return out


def chosen_of_tensors(x, chosen, n):
    total = 0.0
    while n > 0:
        n -= 1
        total += x[chosen[n % 2]].sum() * n
    return total


def gappy():
    x = numbers(9, 4).numpy()
    x[x < 0.3] = np.nan
    return x


COLUMNS, STARTS, SAME = np.array([1, 2, 3, 8, -1, 0, 4, 4]), np.array([0, 2, 2, 5, 8]), np.array([3, 1, 4, 1, 0])
LIFTED = [
    (pivoted, numbers(6, 7).numpy(), 6),
    (pivoted_tensor, numbers(6, 7), 6),
    (exchanged, numbers(9).numpy(), 9),
    (exchanged, numbers(9, 2), 9),
    (sparse_product, numbers(8).numpy(), numbers(9).numpy(), COLUMNS, STARTS),
    (sparse_product_of_tensors, numbers(8), numbers(9), torch.tensor(COLUMNS), torch.tensor(STARTS)),
    (in_columns, numbers(6, 6).numpy(), np.array([1, -2, 0], dtype=np.int8), 4),
    (copies_stay, numbers(6).numpy(), np.array([1, -2, 0]), 4),
    (scattered_with_repeats, numbers(6).numpy(), np.array([1, 2, 1]), 4),
    (broadcast_rows, numbers(7, 2), torch.tensor([1]), 4),
    (through_itself, SAME, SAME, 3),
    (without_gaps, gappy()),
    (where_it_is_great, numbers(5, 6).numpy(), 0.5),
    (where_it_is_great, numbers(5, 6).numpy(), 9.0),
    (chosen_of_tensors, numbers(6), torch.tensor([[True, False, True, True, False, True], [False] * 6]), 4),
    (levinson, 0.5 ** torch.arange(1, 20, dtype=torch.float64)),
]  # fmt: skip


@pytest.mark.parametrize("case", LIFTED, ids=lambda case: case[0].__name__)
def test_vectors_of_positions_in_kernels(case):
    function, *values = case
    lifted = lift(function, verify="off", backend="native")
    for _ in range(2):
        wanted, found = copy.deepcopy(values), copy.deepcopy(values)
        why = difference(lifted(*found), function(*wanted), magnitude=1.0) or difference(found, wanted, magnitude=1.0)
        assert not why, f"{why}\n{lifted.source}"
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def beyond(x, n):
    for k in range(n):
        x[[k, k + 2]] = x[[k + 2, k]]
    return x


def part_of_itself(x, n):
    while n > 0:
        n -= 1
        x[[n, n + 1]] = x[n + 2]
    return x


def masked(x, chosen, n):
    total = 0.0
    while n > 0:
        n -= 1
        total += x[chosen].sum() * n
    return total


def added(x, chosen, n):
    while n > 0:
        n -= 1
        x[chosen] += 1
    return x


OTHERS = [
    (beyond, numbers(6).numpy(), 6),
    (part_of_itself, numbers(6, 2), 3),
    (masked, numbers(3).numpy(), np.array([True, False, True]), 3),
    (masked, numbers(6).numpy(), np.array([1.0, 0.0]), 3),
    (masked, numbers(6).numpy(), np.array([[1, 0], [2, 3]]), 3),
    (masked, numbers(2), torch.tensor([1, 0], dtype=torch.uint8), 3),
    (added, numbers(6).numpy(), np.array([1, 2, 1]), 3),
    (added, numbers(6), torch.tensor([1, 2, 1]), 3),
]  # fmt: skip


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case[0].__name__)
def test_other_subscripts_are_as_in_the_loop(case):
    function, *values = case
    lifted = lift(function, verify="off", backend="native")
    wanted, found = copy.deepcopy(values), copy.deepcopy(values)
    try:
        expected = function(*wanted)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            lifted(*found)
        assert str(raised.value) == str(error)
    else:
        assert not difference(lifted(*found), expected, magnitude=1.0)
    assert not difference(found, wanted, magnitude=1.0)
