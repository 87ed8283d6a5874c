"""Slices of the tuples in a list of the caller's: the items at these places, as a tuple."""

import copy
from typing import NamedTuple

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def runs_alike(function, *given, backend, is_lifted=False):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        outcomes = []
        for one in (lifted, function):
            mine = copy.deepcopy(given)
            try:
                outcomes.append(one(*mine))
            except Exception as error:
                outcomes.append((type(error).__name__, str(error)))
        if isinstance(outcomes[1], tuple) and isinstance(outcomes[1][0], str):
            assert outcomes[0] == outcomes[1]
        else:
            torch.testing.assert_close(*outcomes)
    if is_lifted:
        assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def weighted(rows, w):
    out = []
    for row in rows:
        label, rest = row[0], row[1:]
        total = 0.0
        for k, v in enumerate(rest):
            total = total + v * w[k]
        out.append(total * label - row[-1] + sum(row[:-1]))
    return torch.stack(out)


def taken_apart(rows, w):
    out = []
    for row in rows:
        x, y = row[1:]
        first, *others = row[::-1]
        out.append(w * x + y * first - others[0] * len(row[1:2]))
    return torch.stack(out)


def beside_names(rows, w):
    """A column that nothing takes may hold anything."""
    out = []
    for row in rows:
        x, y = row[1:3]
        out.append(w * x - y)
    return torch.stack(out)


def of_no_steps(rows, w):
    out = []
    for row in rows:
        out.append(w * sum(row[::0]))
    return torch.stack(out)


def behind_the_end(rows, w):
    out = []
    for row in rows:
        out.append(w * (sum(row[2:9]) + sum(row[7:]) + sum(row[-9:1])))
    return torch.stack(out)


def nested(rows, w):
    out = []
    for (name, *_), value in rows:
        out.append(w * value + len(name))
    for row in rows:
        a, b = row[0][1:]
        out.append(w * a * b)
    return torch.stack(out)


class Sample(NamedTuple):
    label: int
    x: float
    y: float


ROWS = {
    "several": [(1, 2.0, 3.0), (2, 3.5, -4.0), (0, 1.0, 1.0)],
    "one": [(1, 2.0, 3.0)],
    "named": [Sample(1, 2.0, 3.0), Sample(2, 3.0, 4.0)],
    "of other lengths": [(1, 2.0, 3.0), (1, 2.0)],
    "of two": [(1, 2.0), (3, 4.0)],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [weighted, taken_apart, behind_the_end, of_no_steps])
@pytest.mark.parametrize("name", ROWS)
def test_tuples(name, function, backend):
    runs_alike(function, ROWS[name], torch.randn(3), backend=backend)


def test_they_are_lifted():
    for function in (weighted, taken_apart, behind_the_end):
        runs_alike(function, ROWS["several"], torch.randn(3), backend="torch", is_lifted=True)
    names = [("a", 1.0, 2.0, None), ("b", 3.0, 4.0, None)]
    runs_alike(beside_names, names, torch.randn(3), backend="torch", is_lifted=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_tuples_in_tuples(backend):
    runs_alike(nested, [(("a", 1, 2), 1.5), (("bcd", 3, 4), 2.5)], torch.randn(3), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_rows_in_later_calls(backend):
    lifted, w = lift(weighted, backend=backend, verify="off"), torch.randn(4)
    for rows in (ROWS["several"], [(1, 2, 3)], [(1, 2.0, 3.0, 4.0)], ROWS["of other lengths"], [[1, 2.0, 3.0]]):
        torch.testing.assert_close(lifted(rows, w), weighted(rows, w))


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend):
    lifted = lift(weighted, backend=backend, verify="off")
    for _ in range(2):
        results = []
        for one in (lifted, weighted):
            w = torch.arange(3.0, requires_grad=True)
            result = one(ROWS["several"], w)
            results.append((result, *torch.autograd.grad(result.square().sum(), w)))
        torch.testing.assert_close(*results)
