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


class Register:
    """Keeps what it is given, by methods and names that Python's containers have, too."""

    def __init__(self):
        self.kept: list[Any] = []

    def sort(self, key):
        self.kept.append(lambda: key(2))

    def update(self, values):
        self.kept.append(lambda: list(values))

    extend = join = update


def sorted(values, key=None):
    RECORD.sort(key)
    return list(values)


RECORD = Register()


def kept_by_sort(x, kept):
    s = 0
    for v in x:
        s = s + v
        kept.sort(lambda a: a * s)
    s = 100
    return x


def kept_by_update(x, kept):
    s = 1
    for v in x:
        s = s + v
        kept.update(a * s for a in x)
        kept.extend(a + s for a in x)
    s = 100
    return x


def kept_of_a_list(x, kept):
    s, every = 1, [kept]
    for v in x:
        s = s + v
        every[0].join(a * s for a in x)
    s = 100
    return x


def kept_by_another_of_its_name(x, kept):
    s = 0
    for v in x:
        s = s + v
        sorted(x, key=lambda a: a * s)
    s = 100
    return x


def kept_of_a_name_bound_twice(x, kept):
    s = 1
    found = []
    for v in x:
        found = kept
        s = s + v
        found.extend(a * s for a in x)
    s = 100
    return x


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    "function",
    [kept_by_sort, kept_by_update, kept_of_a_list, kept_by_another_of_its_name, kept_of_a_name_bound_twice],
)
def test_what_objects_keep_by_methods_of_containers(function, backend):
    run: Any = lift(function, verify="off", backend=backend)
    for _ in range(3):
        found = []
        for one in (function, run):
            kept, RECORD.kept = Register(), []
            one([1, 2, 5], kept)
            found.append([call() for call in (*kept.kept, *RECORD.kept)])
        assert found[0] == found[1]


def lists_of_its_own(x, n):
    rows = [[] for _ in range(n)]
    best = []
    for c in range(n):
        rows[c].extend(v * c for v in x)
        best.append((c, x[c] + c))
        best.sort(key=lambda one: -one[1] * c)
    c = 7
    return rows, best, c


def lists_of_the_caller(x, out):
    for c in range(3):
        out.extend(v * c for v in x)
    c = 7
    return out, c


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_lists_keep_nothing(backend):
    run: Any = lift(lists_of_its_own, verify="off", backend=backend)
    for x in ([3, 1, 2], [1, 2, 3]):
        assert run(x, 3) == lists_of_its_own(x, 3)
    assert all(one.decision == "native" for one in run.report().loops if one.decision != "kept")
    assert any(one.decision == "native" for one in run.report().loops)
    run = lift(lists_of_the_caller, verify="off", backend=backend)
    for out in ([], [1], [2, 3]):
        assert run([3, 1, 2], list(out)) == lists_of_the_caller([3, 1, 2], list(out))
    assert run.report().loops[0].decision == "native"
    kept, register = Register(), Register()
    assert run([3, 1, 2], kept)[1] == lists_of_the_caller([3, 1, 2], register)[1]
    assert [call() for call in kept.kept] == [call() for call in register.kept]
