"""Exceptions that end around a loop: in context managers, and in a ``finally`` that leaves in another way."""

import contextlib
from typing import Any

import numpy as np
import pytest
import torch

import looplift

BACKENDS = ("auto", "torch", "native")


class profile:
    """Of the name of one that swallows nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


@contextlib.contextmanager
def stream():
    with contextlib.suppress(ZeroDivisionError):
        yield


class Tools:
    open = profile
    autocast = staticmethod(stream)


def by_a_class(xs):
    total = 0
    with profile():
        for x in xs:
            total += 10 // x
    return total


def by_a_generator(xs):
    total = 0
    with torch.no_grad(), stream():
        for x in xs:
            total += 10 // x
    return total


def by_attributes(xs):
    total, n = 0, 0
    with Tools.open():
        for x in xs:
            total += 10 // x
    with Tools.autocast():
        for x in xs:
            n += 20 // x
    return total, n


def by_a_local(xs, no_grad=profile):
    total = 0
    with no_grad():
        for x in xs:
            total += 10 // x
    return total


def by_break(xs):
    total = 0
    for k in range(2):
        try:
            for x in xs:
                total += 10 // x + k
        finally:
            break
    return total


def by_continue(xs):
    total = 0
    while total < 100:
        total += 40
        try:
            for x in xs:
                total += 10 // x
        finally:
            continue
    return total


def by_return_behind_another(xs):
    total = 0
    for _ in range(2):
        try:
            try:
                for x in xs:
                    total += 10 // x
            finally:
                if total > 5:
                    break
        except ZeroDivisionError:
            total = -total
    return total


def leaving_to_leave_in_another_way(xs):
    total = n = 0
    while True:
        try:
            if n > 2:
                return total
            for x in xs:
                total += x
            n += 1
        finally:
            for x in xs:
                n += x
            if n > 5:
                break
    return total, n


FUNCTIONS = (
    by_a_class, by_a_generator, by_attributes, by_a_local, by_break, by_continue, by_return_behind_another,
    leaving_to_leave_in_another_way,
)  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_the_loop_has_done_is_kept(function, backend):
    def of(call, xs):
        try:
            return call(xs)
        except ZeroDivisionError as error:
            return str(error)

    lifted: Any = looplift.lift(function, backend=backend, verify="off")
    for xs in ([1, 2], [1, 0, 3], [5, 1, 0], [2, 7, 4], [1, 0]):
        assert of(lifted, xs) == of(function, xs)


def under_those_of_libraries(x):
    total = torch.zeros(())
    with torch.no_grad(), np.errstate(all="ignore"), torch.autocast("cpu", enabled=False):
        for i in range(x.shape[0]):
            total = total + x[i] * i
    return total


def under_one_that_is_imported_inside(x):
    import io
    from contextlib import redirect_stdout

    import torch as th

    def inner():
        total = th.zeros(())
        with th.no_grad(), redirect_stdout(io.StringIO()):
            for i in range(x.shape[0]):
                total = total + x[i] * i
        return total

    return inner()


@pytest.mark.parametrize("function", [under_those_of_libraries, under_one_that_is_imported_inside])
def test_loops_under_those_of_libraries_are_lifted(function):
    lifted: Any = looplift.lift(function, verify="off")
    x = torch.arange(6.0)
    for _ in range(2):
        assert torch.equal(lifted(x), function(x))
    assert lifted.report().loops[0].decision == "lanes"
