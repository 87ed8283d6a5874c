"""Whether a side of a choice was taken is asked only where a gradient that is there or not can tell."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def boxes(p, g):
    out = torch.zeros(len(p), len(g))
    for i in range(len(p)):
        for j in range(len(g)):
            inter = min(p[i, 1], g[j, 1]) - max(p[i, 0], g[j, 0])
            if inter > 0:
                out[i, j] = inter / (p[i, 1] - p[i, 0] + g[j, 1] - g[j, 0] - inter)
    return out


def larger_of_two(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        out[i] = max(a[i], b[i])
    return out


def larger_and_both(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        out[i] = max(a[i], b[i]) * (a[i] + b[i])
    return out


def larger_and_one(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        out[i] = max(a[i], b[i]) * a[i]
    return out


def dropped_afterwards(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        larger = a[i] if a[i] > b[i] else b[i]
        if a[i] > 0:
            out[i] = larger * 2
        else:
            out[i] = a[i] + 1
    return out


def two_results(a, b):
    first, second = torch.zeros(len(a)), torch.zeros(len(a))
    for i in range(len(a)):
        larger = torch.maximum(a[i], a[i] * 2) if a[i] > b[i] else b[i]
        first[i] = larger + a[i] + b[i]
        second[i] = larger + a[i]
    return first, second


def detached(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        value = b[i]
        if a[i] > b[i]:
            value = a[i] * b[i].detach()
        out[i] = value
    return out


def detached_beside(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        out[i] = max(a[i], b[i]) * a[i].detach() + b[i]
    return out


def rebuilt(a, b):
    out = torch.zeros(len(a))
    for i in range(len(a)):
        value = torch.sqrt(a[i].abs()) if a[i] > 1 else b[i]
        if b[i] > 0:
            out[i] = value
        else:
            out[i] = b[i] * 3
    return out


NUMBERS = [
    (torch.tensor([1.5, -0.5, 2.0]), torch.tensor([0.5, 0.25, -1.0])),
    (torch.tensor([1.5, 2.5, 2.0]), torch.tensor([0.5, 0.25, 1.0])),
    (torch.tensor([-1.5, -2.5, -2.0]), torch.tensor([0.5, 0.25, 1.0])),
    (torch.tensor([1.5, 2.5]), torch.tensor([-0.5, -0.25])),
    (torch.tensor([-1.5, -2.5]), torch.tensor([-3.0, -4.0])),
]


@pytest.mark.parametrize(
    "function",
    [
        larger_of_two,
        larger_and_both,
        larger_and_one,
        dropped_afterwards,
        two_results,
        detached,
        detached_beside,
        rebuilt,
    ],
)
def test_inputs_that_no_iteration_takes_have_no_gradient(function):
    check(function, *map(list, NUMBERS))


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_of_boxes_nothing_is_asked_about_their_corners(shift):
    p = torch.tensor([[0.0, 1.0], [0.5, 2.0], [3.0, 4.0]])
    g = torch.tensor([[0.2, 0.8], [1.0, 3.5]]) + shift
    check(boxes, [p, g])
    lifted = lift(boxes, verify="off", backend="torch")
    lifted(p.requires_grad_(), g.requires_grad_())
    assert lifted.source.count(".any()") == 1


@pytest.mark.parametrize(("function", "times"), [(larger_of_two, 2), (larger_and_one, 1), (larger_and_both, 0)])
def test_what_is_asked_is_what_is_in_doubt(function, times):
    lifted = lift(function, verify="off", backend="torch")
    a, b = (x.clone().requires_grad_() for x in NUMBERS[0])
    lifted(a, b)
    assert lifted.source.count("if bool(") == times
    lifted(a.detach(), b)
    assert lifted.source.count("if bool(") <= times


def test_inputs_that_ask_for_no_gradient_are_no_matter():
    lifted = lift(larger_of_two, verify="off", backend="torch")
    a, b = NUMBERS[0]
    found = lifted(a.clone(), b.clone().requires_grad_())
    assert found.requires_grad == larger_of_two(a.clone(), b.clone().requires_grad_()).requires_grad
    assert lifted.source.count("if bool(") == 1


def nested(points, sigma):
    rows = []
    for p in points:
        row = []
        for q in points:
            row.append(torch.exp(-((p - q) ** 2).sum() / sigma))
        rows.append(torch.stack(row))
    return torch.stack(rows)


def test_a_stack_of_stacks_is_copied_once():
    points = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    check(nested, [points, 2.0])
    lifted = lift(nested, verify="off", backend="torch")
    result = lifted(points.requires_grad_(), 2.0)
    assert lifted.source.count(".clone(memory_format") == 1
    result.mul_(2)
    result.sum().backward()
