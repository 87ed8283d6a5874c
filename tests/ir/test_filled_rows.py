"""Lists of empty lists that a loop fills in order: the loop's values, gradients and errors."""

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def neighbours_within(x, w):
    near = [[] for _ in range(x.shape[0])]
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j and (x[i] - x[j]).norm() < 1.5:
                near[i].append(j)
    out = []
    for i in range(x.shape[0]):
        total = torch.zeros(())
        for j in near[i]:
            total = total + torch.dot(x[i], x[j]) * w[j]
        out.append(total)
    return torch.stack(out)


def at_most_two(x, w):
    """The length of the row that grows decides."""
    chosen = [[] for _ in x]
    for i, row in enumerate(x):
        for j in range(row.shape[0]):
            if row[j] > 0 and len(chosen[i]) < 2:
                chosen[i].append(j)
    total = torch.zeros(())
    for i in range(x.shape[0]):
        for j in chosen[i]:
            total = total + x[i, j] * w[i]
    return total, sum(len(row) for row in chosen)


def of_each_sample(x, w):
    out = []
    for k in range(3):
        rows = [[] for _ in range(x.shape[0])]
        for i in range(x.shape[0]):
            for j in range(i + k):
                rows[i].append(torch.exp(w[i] * (j + k)))
        total = torch.zeros(())
        for row in rows:
            for item in row:
                total = total + item
        out.append(total)
    return torch.stack(out)


def both_directions(x, w):
    near = [[] for _ in range(x.shape[0])]
    for i in range(x.shape[0]):
        for j in range(i):
            if (x[i] - x[j]).norm() < 1.5:
                near[i].append(j)
                near[j].append(i)
    return torch.stack([w[i] * len(near[i]) for i in range(x.shape[0])]), near


def too_few(x, w):
    rows = [[] for _ in range(3)]
    for i in range(x.shape[0]):
        rows[i].append(x[i].sum() * w[i])
    total = torch.zeros(())
    for row in rows:
        for item in row:
            total = total + item
    return total


def not_to_its_end(x, w):
    rows = [[] for _ in range(x.shape[0])]
    for i in range(x.shape[0]):
        if w[i] < 0:
            break
        rows[i].append(x[i].sum())
    return torch.stack([sum(row) * w.sum() if row else w[0] for row in rows])


def one_row_many_times(x, w):
    rows = [[]] * x.shape[0]
    for i in range(x.shape[0]):
        rows[i].append(x[i].sum() * w[i])
    return len(rows[0]), rows[0][-1]


def filled_twice(x, w):
    rows = [[] for _ in range(x.shape[0])]
    for i in range(x.shape[0]):
        rows[i].append(i)
    for i in range(x.shape[0]):
        rows[i].append(2 * i)
    return w[0] * sum(sum(row) for row in rows), rows


def called(function: Any, gradients: bool, size: int) -> Any:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(size, 3, generator=generator).requires_grad_(gradients)
    w = torch.randn(size, generator=generator).requires_grad_(gradients)
    try:
        result = function(x, w)
    except IndexError as error:
        return type(error), str(error)
    for first in result if isinstance(result, tuple) else (result,):
        if isinstance(first, torch.Tensor) and first.requires_grad:
            first.sum().backward()
    return result, x.grad, w.grad


LIFTED = [neighbours_within]
OTHERS = [of_each_sample, at_most_two, both_directions, too_few, not_to_its_end, one_row_many_times, filled_twice]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("function", LIFTED + OTHERS, ids=lambda function: function.__name__)
def test_answers_are_the_loops(function, gradients, backend):
    lifted = lift(function, verify="off", backend=backend)
    for size in (6, 3, 1, 6):
        assert difference(called(lifted, gradients, size), called(function, gradients, size)) is None, size


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_rows_are_lanes(function):
    lifted = lift(function, verify="off", backend="torch")
    called(lifted, True, 6)
    assert {entry.decision for entry in lifted.report().loops} == {"lanes"}
