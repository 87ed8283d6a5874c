"""An operand is read before what stands after it is evaluated, which may change what it is of."""

import pytest
import torch
from strictly import same


def grown(x):
    x[1] *= 1.5
    return x[2] - 1.0


def grown_row(x):
    x[1] *= 1.5
    return x - 0.25


def factor(x):
    x[1] += 0.5
    return 2.0


def extremes(x, seen):
    for k in range(4):
        seen.append(k)
        seen.append(torch.min(x[1] * 3.0, grown(x)))
        seen.append((x[1] - 5.0).max(grown(x)))
    return seen


def clamped(x, seen):
    for k in range(4):
        seen.append(k)
        seen.append((x[1] * 3.0).clamp(min=-factor(x), max=factor(x)))
        seen.append(torch.clamp(x * 2.0, factor(x)))
    return seen


def products(x, seen):
    for k in range(4):
        seen.append(k)
        seen.append((x * 3.0).dot(grown_row(x)))
        seen.append(torch.matmul(x / 2.0, grown_row(x)))
        seen.append((torch.stack([x * 2.0, x]) * 0.5).mv(grown_row(x)))
    return seen


def distances(x, seen):
    for k in range(4):
        seen.append(k)
        seen.append((x * 3.0).dist(grown_row(x)))
        seen.append(torch.nn.functional.leaky_relu(-x * 3.0, factor(x)))
    return seen


def beginnings(x, seen):
    for k in range(4):
        seen.append(k)
        seen.append(sum([grown(x) for _ in range(3)], x[1] * 2.0))
        seen.append(sum([x[0], x[1]], grown(x)))
    return seen


@pytest.mark.parametrize("function", [extremes, clamped, products, distances, beginnings])
def test_operands_of_tensors(function):
    same(function, (torch.tensor([1.5, 2.5, -3.0], dtype=torch.float64), []), (torch.tensor([0.5, -1.0, 2.0]), []))
