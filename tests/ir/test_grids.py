"""Lists of numbers of tensors that are filled place by place become tensors."""

import math

import pytest
import torch

import looplift
from looplift.base.compare import difference

INFINITY = float("inf")


def warped(costs):
    n, m = costs.shape
    table = [[math.inf] * (m + 1) for _ in range(n + 1)]
    table[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i][j] = costs[i - 1, j - 1] + min(table[i - 1][j - 1], table[i - 1][j], table[i][j - 1])
    return table[n][m]


def softly(costs):
    n, m = costs.shape
    table = [[torch.tensor(INFINITY, dtype=costs.dtype) for _ in range(m + 1)] for _ in range(n + 1)]
    table[0][0] = torch.zeros((), dtype=costs.dtype)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            near = torch.stack([table[i - 1][j - 1], table[i - 1][j], table[i][j - 1]])
            table[i][j] = costs[i - 1, j - 1] - torch.logsumexp(-near, dim=0)
    return table[n][m]


def cheapest(costs):
    n, m = costs.shape
    table = [[INFINITY] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                table[i][j] = costs[0, 0]
            elif i == 0:
                table[i][j] = table[i][j - 1] + costs[i, j]
            elif j == 0:
                table[i][j] = table[i - 1][j] + costs[i, j]
            else:
                table[i][j] = torch.minimum(table[i - 1][j], table[i][j - 1]) + costs[i, j]
    return table[-1][-1]


def weighted(costs):
    values = [0.0] * (len(costs) + 1)
    total = 0.0
    for i in range(1, len(costs) + 1):
        values[i] = values[i - 1] * 0.5 + costs[i - 1, 0]
        total = total + values[i] * i
    return total


def run(function, costs):
    try:
        result = function(costs)
    except Exception as error:
        return type(error).__name__, str(error)
    asks = isinstance(result, torch.Tensor) and result.requires_grad
    gradients = torch.autograd.grad(result, costs, allow_unused=True) if asks else ()
    shares = isinstance(result, torch.Tensor) and result.data_ptr() == costs.data_ptr()
    return result, gradients, shares


def same(function, lifted, *, dtype=torch.float32, shapes=((5, 4), (1, 1), (3, 1), (2, 6), (0, 3))):
    for gradients in (False, True):
        for shape in shapes:
            costs = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=dtype)
            costs.requires_grad_(gradients)
            found, wanted = run(lifted, costs), run(function, costs)
            assert not difference(found, wanted, magnitude=1.0), (function.__name__, shape, gradients)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("verify", ["off", "first"])
@pytest.mark.parametrize("function", [warped, softly, cheapest, weighted])
def test_tables_in_lists_are_kernels(function, verify, dtype):
    lifted = looplift.lift(function, verify=verify)
    same(function, lifted, dtype=dtype)
    lifted = looplift.lift(function, verify=verify)
    lifted(torch.randn(4, 5, dtype=dtype, requires_grad=True))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}, lifted.report()


def with_numbers(costs):
    values = [0.0] * (len(costs) + 2)
    values[1] = values[0] + 0.1
    for i in range(2, len(costs) + 2):
        values[i] = values[i - 1] + costs[i - 2, 0]
    return values[1], values[-1]


def with_a_leaf_left_out(costs):
    other = costs * 2
    values = [0.0] * (len(costs) + 1)
    for i in range(1, len(costs) + 1):
        values[i] = values[i - 1] + (costs[i - 1, 0] if i % 2 else other.detach()[i - 1, 0])
    return values[1]


def handed_out_twice(costs):
    values = [0.0] * (len(costs) + 1)
    for i in range(1, len(costs) + 1):
        values[i] = values[i - 1] + costs[i - 1, 0]
    first, second = values[-1], values[len(costs)]
    return torch.ones(1) if first is second else torch.zeros(1)


def changed_afterwards(costs):
    values = [0.0] * (len(costs) + 1)
    for i in range(1, len(costs) + 1):
        value = costs[i - 1, 0] * 2 + values[i - 1]
        values[i] = value
        value += 1
    return values[-1]


def never_filled(costs):
    values = [None] * (len(costs) + 1)
    for i in range(1, len(costs)):
        values[i] = costs[i, 0] * 2
    return values[0] if len(costs) > 1 else values[0] * costs[0, 0]


def chosen(costs):
    values = [0.0] * (len(costs) + 1)
    for i in range(1, len(costs) + 1):
        values[i] = max(values[i - 1], costs[i - 1, 0])
    return values[-1]


OTHERS = [with_numbers, with_a_leaf_left_out, handed_out_twice, changed_afterwards, never_filled, chosen]


@pytest.mark.parametrize("verify", ["off", "first"])
@pytest.mark.parametrize("function", OTHERS)
def test_lists_that_no_tensor_can_stand_for(function, verify):
    shapes = ((5, 4), (1, 2), (3, 1), (2, 6))
    if function is with_numbers:
        lifted = looplift.lift(function, verify=verify)
        for shape in shapes:
            costs = torch.randn(shape)
            found, wanted = lifted(costs), function(costs)
            assert type(found[0]) is float and found[0] == wanted[0] and torch.allclose(found[1], wanted[1])
    else:
        same(function, looplift.lift(function, verify=verify), shapes=shapes)
