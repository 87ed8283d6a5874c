"""Functions and generators that are made in a region, and see what their names are bound to afterwards."""

from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift


def escapes(x, n):
    c = 2
    f: Any = None
    for k in range(n):
        x[k] = x[k] * 2
        f = lambda v: v * c
    c = 3
    return f(x[0])


def is_defined(x, n):
    c = 2
    made: list[Any] = []
    for k in range(n):
        x[k] = x[k] * 2

        def f(v):
            return v * c

        made.append(f)
    c = 3
    return made[0](x[0])


def runs_later(x, n):
    c = 2
    values = (v * c for v in x)
    c = 3
    for k in range(n):
        x[k] = x[k] * 2
    c = 4
    return sum(values)


def maps_later(x, n):
    c = 2
    values: Any = None
    for k in range(n):
        x[k] = x[k] + c
        values = map(lambda v: v * c, x)
    c = 7
    return sum(values)


def in_a_comprehension(x, n):
    out = []
    for k in range(n):
        c = 1
        functions = [(lambda v: v + c) for _ in x]
        c = 5
        out.append(functions[0](x[k]))
    return sum(out)


def between_iterations(x, n):
    c, total = 1, 0
    for v in (u * c for u in x):
        for k in range(n):
            c = c + k
        total = total + v
        print(end="")
    return total


@pytest.mark.parametrize(
    "function", [escapes, is_defined, runs_later, maps_later, in_a_comprehension, between_iterations]
)
def test_names_that_change_later(function):
    run: Any = lift(function, verify="off")
    for x in ([1.0, 2.0, 3.0], torch.arange(1.0, 4.0), np.arange(1.0, 4.0)):
        copies = [x.copy() if isinstance(x, list) else x + 0 for _ in range(2)]
        assert run(copies[0], 2) == function(copies[1], 2)


def used_at_once(x, n):
    for c in range(n):
        x[c] = x[c] + sum(v * c for v in (1.0, 2.0)) + sum(map(lambda v: v * c, (1.0, 2.0)))
    return x


def test_what_is_used_up_holds_nothing():
    run: Any = lift(used_at_once, verify="off")
    assert torch.equal(run(torch.ones(3), 3), used_at_once(torch.ones(3), 3))
    assert run.report().loops[0].decision == "lanes"
