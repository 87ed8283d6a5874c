"""Values that begin as numbers of Python's and become rows: ``total = 0; total = total + row``."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome, written

from looplift import lift
from looplift.base.compare import difference

PROGRAMS = """
def summed(x, lab):
    total = 0
    for row in x:
        total = total + row
    return total

def summed_by_python(x, lab):
    return sum(x[i] * (i + 1) for i in range(len(x))) / len(x)

def weighted(x, lab):
    num, den = 0.0, 0
    for row, one in zip(x, lab):
        num += row * one
        den += one + row
    return num / (den * den + 1)

def stored_on_the_way(x, lab):
    out, total = LIB.zeros((len(x), 3), dtype=x.dtype), 0
    for i in range(len(x)):
        out[i] = total
        total = total + x[i]
    return out

def scaled(x, lab):
    state = 0.5
    for row in x:
        state = state * 0.25 + row
    return state

def positive_ones(x, lab):
    total, count = 0, 0
    for row in x:
        if row[0] > 0:
            total = total + row
            count += 1
    return total / max(count, 1)

def groups(x, lab):
    out = []
    for c in range(3):
        total = 0
        for row, one in zip(x, lab):
            if one == c:
                total = total + row
        out.append(total)
    return LIB.stack(out)

def last_one(x, lab):
    last, out = 0.0, []
    for row in x:
        out.append(row - last)
        if row.sum() > 0:
            last = row
    return LIB.stack(out)

def chosen(x, lab):
    total = 0
    for row in x:
        part = row if row[0] > 0 else 1.0
        total = total + part * row[1]
    return total

def integers(x, lab):
    total = 0.0
    for i in range(len(lab)):
        total += lab[i : i + 1] * 2
    return total
"""
NAMES = [line.partition("(")[0].removeprefix("def ") for line in PROGRAMS.splitlines() if line.startswith("def ")]


def calls(library):
    generator = torch.Generator().manual_seed(4)
    for sign in (1, -1):  # all groups have a row; then no row is positive
        x = torch.randn(9, 3, generator=generator).double()
        x = x if sign > 0 else -x.abs()
        lab = torch.arange(9) % 3
        yield [x, lab] if library == "torch" else [x.numpy(), lab.numpy()]
    empty = torch.zeros(0, 3).double(), torch.zeros(0, dtype=torch.int64)
    yield list(empty) if library == "torch" else [one.numpy() for one in empty]


@pytest.mark.parametrize("library", ["torch", "np"])
@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_becomes_a_row(name, library):
    scope = {"torch": torch, "np": np, "LIB": torch if library == "torch" else np}
    loop = written(PROGRAMS, f"<numbers that become rows, {library}>", scope)[name]
    lifted = lift(loop, verify="off", backend="torch")
    for values in calls(library):
        if len(values[0]) == 0 and name in ("summed_by_python", "groups", "last_one"):
            continue  # these raise, or give numbers that cannot be stacked
        for asks in (False, library == "torch"):
            wanted = outcome(loop, values, gradients=asks)
            why = difference(outcome(lifted, values, gradients=asks), wanted, magnitude=1.0, path=name)
            assert not why, f"{why}\n{lifted.source}"


@pytest.mark.parametrize("name", ["summed", "weighted", "positive_ones", "groups", "integers"])
def test_loops_over_rows_of_arrays_become_lanes(name):
    loop = written(PROGRAMS, "<numbers that become rows>", {"LIB": np, "np": np})[name]
    check(loop, next(calls("np")), gradients=False)


def test_groups_without_rows_have_no_stack():
    loop = written(PROGRAMS, "<numbers that become rows>", {"LIB": torch})["groups"]
    lifted = lift(loop, verify="off")
    x = torch.ones(4, 3)
    lifted(x, torch.tensor([0, 1, 2, 2]))
    with pytest.raises(TypeError) as wanted:
        loop(x, torch.tensor([0, 1, 1, 1]))
    with pytest.raises(TypeError) as given:
        lifted(x, torch.tensor([0, 1, 1, 1]))
    assert str(given.value) == str(wanted.value)


def test_small_integers_of_numpy_that_a_number_does_not_fit_raise_as_in_the_loop():
    def counted_down(x):
        left = 0
        for row in x:
            left = left - 1 + row
        return left

    rows = np.ones((3, 2), dtype=np.uint8)
    with pytest.raises(OverflowError):
        counted_down(rows)
    with pytest.raises(OverflowError):
        lift(counted_down)(rows)


def test_quotients_of_numbers_that_become_rows_are_those_of_python():
    def divided(x):
        state = 0
        for row in x:
            state = row + state / state
        return state

    with pytest.raises(ZeroDivisionError):
        lift(divided)(np.ones((3, 2)))


CHOSEN = """
def quotients(x, idx):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        y = x[i, 1] if x[i, 0] > 0 else 0
        out[i] = 1.0 / y
    return out

def quotients_of_rows(x, idx):
    out = torch.zeros(x.shape)
    for i in range(len(x)):
        y = x[i] if x[i, 0] > 0 else 0
        out[i] = 1.0 / y
    return out

def rests(x, idx):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        y = x[i, 1] if x[i, 0] > 0 else 0.0
        out[i] = 3.0 % y
    return out

def roots(x, idx):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        y = x[i, 1].abs() if x[i, 0] > 0 else -2.0
        out[i] = abs(y ** 0.5)
    return out

def means_of_groups(x, idx):
    out = torch.zeros(9, 3)
    for c in range(9):
        total, count = 0, 0
        for i in range(len(x)):
            if idx[i, 0] == c:
                total = total + x[i]
                count += 1
        out[c] = total / count if count else total
    return out

def placed(x, idx):
    out = torch.zeros(9)
    for i in range(len(x)):
        k = idx[i] if x[i, 0] > 0 else 0
        out[k] = x[i]
    return out
"""


@pytest.mark.parametrize("name", ["quotients", "quotients_of_rows", "rests", "roots", "means_of_groups", "placed"])
@pytest.mark.parametrize("backend", ["torch", "native"])
def test_numbers_of_some_iterations_raise_as_those_of_python_do(name, backend):
    """A zero of Python's is no divisor, a negative number's root is complex, a number is no list of places."""
    loop = written(CHOSEN, "<numbers of some iterations>", {"torch": torch})[name]
    lifted = lift(loop, verify="off", backend=backend)
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(6, 3, generator=generator)
    idx = torch.randint(0, 9, (6, 3), generator=generator)
    for rows in (x.abs() + 0.1, x, -x.abs()):
        try:
            wanted = loop(rows, idx)
        except Exception as error:
            with pytest.raises(type(error)) as given:
                lifted(rows, idx)
            assert str(given.value) == str(error)
        else:
            torch.testing.assert_close(lifted(rows, idx), wanted, equal_nan=True)


@pytest.mark.parametrize("name", ["quotients", "quotients_of_rows", "rests", "means_of_groups"])
def test_quotients_by_what_is_a_tensor_everywhere_become_lanes(name):
    loop = written(CHOSEN, "<numbers of some iterations>", {"torch": torch})[name]
    idx = torch.arange(18).reshape(6, 3) % 6
    check(loop, [torch.rand(6, 3) + 0.1, idx], gradients=False)
