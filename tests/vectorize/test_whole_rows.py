"""Folds of what lanes take from rows: the loop's values, gradients and errors, without the entries being gathered."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import appended, check

from looplift import lift

NAN, INF = float("nan"), float("inf")
BEFORE = [
    "x[: i + 1].sum()",
    "x[: i + 1].mean()",
    "x[: i + 1].max()",
    "x[: i + 1].amin()",
    "x[:i].sum()",
    "x[:i].sum() - x[i + 1 :].sum()",
    "x[i:].sum()",
    "x[i:].max()",
    "x[i:].min()",
    "x[i + 1 :].sum()",
    "(x[: i + 1] ** 2).sum()",
    "(x[: i + 1] > 0).sum()",
    "(x[:i] < x[i]).sum()",
    "(x[: i + 1] - x[i]).abs().sum()",
    "x[: i + 2].std()",
    "(x[: i + 1] > 1).any()",
    "(x[i:] > -1).all()",
    "torch.linalg.vector_norm(x[: i + 1])",
    "x[: i + 1].logsumexp(0)",
    "x[: i + 1].argmax()",
    "x[i + 3 :].sum()",
    "x[: i - 2].sum()",
    "x[-i - 1 :].sum()",
    "x[: 2 * i].sum()",
]
ROWS = [
    "a[i, : b[i]].sum()",
    "a[i, : b[i]].mean()",
    "a[i, b[i] :].sum()",
    "a[i][: b[i]].sum()",
    "a[i, : b[i] + 1].max()",
    "(a[i, : b[i]] * x[i]).sum()",
    "a[i, : b[i]].exp().sum()",
    "a[: i + 1].sum(0)",
    "a[: i + 1].mean(0)",
    "a[:, : i + 1].sum(1)",
    "a[i:].sum(0)",
    "a[: i + 1, i].sum()",
    "a[i, : i + 1].sum()",
    "a[: i + 1].sum(1).sum()",
]
MASKED = [
    "a[i][a[i] > 0].sum()",
    "a[i][a[i] > 0].mean()",
    "a[i][~torch.isnan(a[i])].mean()",
    "torch.log(a[i][a[i] > 0]).sum()",
    "(a[i][a[i] > x[i]] - x[i]).sum()",
    "(a[i][a[i] > 0] < 1).sum()",
    "x[a[i] > 0].sum()",
    "((a[i][a[i] > 0] - a[i][a[i] > 0].mean()) ** 2).sum()",
    "a[i][a[i] > -9].std()",
    "a[i][a[i] > -9].max()",
    "(a[i][a[i] > 0] ** 0.5).sum()",
]


def values(size: int, *, special: tuple[float, ...] = ()) -> list[Any]:
    generator = torch.Generator().manual_seed(size)
    x, a = torch.randn(size, generator=generator), torch.randn(size, size, generator=generator)
    for place, value in enumerate(special):
        x[place % size], a[place % size, (2 * place) % size] = value, value
    return [x, a, torch.randint(-size, size + 2, (size,), generator=generator)]


@pytest.mark.parametrize("special", [(), (NAN,), (INF, -INF), (0.0, 0.0, -0.0)], ids=str)
@pytest.mark.parametrize("expression", [*BEFORE, *ROWS, *MASKED])
def test_folds_are_the_loops(expression, special):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    gradients = not special
    for sizes in ((5, 6), (2,), (1,)):
        calls = [values(size, special=special) for size in sizes]
        for mode in (False, True) if gradients else (False,):
            compared(function, calls, mode)


def compared(function, calls, gradients):
    """Each call gives the loop's values, or its error."""
    from tests.vectorize.harness import outcome

    from looplift.base.compare import difference

    lifted = lift(function, verify="off", backend="torch")
    for call in calls:
        outcomes = []
        for run in (function, lifted):
            try:
                outcomes.append(outcome(run, call, gradients=gradients))
            except (RuntimeError, IndexError) as error:
                outcomes.append(f"{type(error).__name__}: {error}")
        assert not (why := difference(*reversed(outcomes), magnitude=1.0, path="call")), f"{why}\n{lifted.source}"


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool, torch.float64, torch.float16])
@pytest.mark.parametrize(
    "expression", ["x[: i + 1].sum()", "x[i:].sum()", "a[i][b[i] > 0].sum()", "a[i, : b[i, 0]].sum()"]
)
def test_sums_of_other_dtypes(expression, dtype):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    x, a = (torch.randn(shape).mul(3).to(dtype) for shape in ((6,), (6, 4)))
    compared(function, [[x, a, torch.randint(0, 4, (6, 4))]] * 2, False)


def running_rows(x, a, b):
    out = torch.zeros_like(a)
    for i in reversed(range(len(a))):
        out[i] = a[i:].sum(0)
    return out


def running_from_one(x, a, b):
    out = torch.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = x[:i].mean()
    return out


def inside_of_rows(x, a, b):
    out = torch.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, : j + 1].sum()
    return out


def where_it_runs(x, a, b):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            out[i] = x[: i + 1].sum()
    return out


def between_pairs(x, a, b):
    n = len(a)
    out = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            both = (a[i] > -1) & (a[j] > -1)
            if both.any():
                u, v = a[i][both], a[j][both]
                out[i, j] = ((u - u.mean()) * (v - v.mean())).mean()
    return out


def deepest_fall(x, a, b):
    worst = 0.0
    for i in range(1, len(x)):
        peak = x[: i + 1].max()
        worst = max(worst, float(peak - x[i]))
    return worst


def of_what_changes(x, a, b):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        a[i] += 1
        out[i] = a[i][a[i] > 0].sum() + a[i, : b[i]].sum()
    return out


def before_it_changes(x, a, b):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        before = a[i][a[i] > 0]
        a[i] = 0
        out[i] = before.sum()
    return out


LOOPS = [running_rows, running_from_one, inside_of_rows, where_it_runs, between_pairs, deepest_fall, of_what_changes,
         before_it_changes]  # fmt: skip


@pytest.mark.parametrize("function", LOOPS)
def test_folds_in_loops_are_the_loops(function):
    for gradients in (False, True) if function not in (deepest_fall, of_what_changes, before_it_changes) else (False,):
        compared(function, [values(6), values(6), values(5), values(1)], gradients)


GATHERS = ("repeat_interleave", "nonzero", "index_add")


@pytest.mark.parametrize(
    "expression",
    ["x[: i + 1].sum()", "x[i:].mean()", "a[i][a[i] > 0].sum()", "a[i, : b[i]].mean()", "(x[:i] < x[i]).sum()"],
)
def test_no_entry_is_gathered(expression):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    lifted = lift(function, verify="off", backend="torch")
    lifted(*values(6))
    assert not any(word in lifted.source for word in GATHERS)


def test_few_windows_of_a_long_row_do_not_sweep_it():
    function = appended("x[: b[i]].sum()", "len(b)", {"torch": torch}, join="torch.stack")
    check(function, [torch.randn(5000), None, torch.tensor([3, 1, 4])])
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.randn(5000), None, torch.tensor([3, 1, 4]))
    assert "cumsum(-1)" not in lifted.source


MATRICES = [
    "a[a[i] > 0].sum(0)",
    "a[a[i] > 0].mean(0)",
    "a[a[i] > -9].amax(0)",
    "(a[:, None] * a)[i, : b[i]].mean(0)",
    "(a[:, None] * a)[i, b[i] :].sum(0)",
    "(a[:, None] * a)[i, : b[i] + 1].amin(0)",
    "x[a[i] > 0] @ a[a[i] > 0]",
    "x[: b[i]] @ (a[:, None] * a)[i, : b[i]]",
    "(a[:, None] * a)[i][: b[i]] @ a[i]",
    "((a[:, None] * a)[i, : b[i]] @ x).exp().sum()",
    "torch.softmax((a[:, None] * a)[i, : b[i]] @ x, 0).sum()",
    "torch.softmax(a[i, : b[i]], 0) @ a[: b[i]]",
    "a.T[:, : i + 1].sum(1)",
]


@pytest.mark.parametrize("special", [(), (NAN,), (INF, -INF)], ids=str)
@pytest.mark.parametrize("expression", MATRICES)
def test_rows_of_matrices_are_the_loops(expression, special):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    for sizes in ((5, 6), (2,), (1,)):
        calls = [values(size, special=special) for size in sizes]
        for mode in (False, True) if not special else (False,):
            compared(function, calls, mode)


EXTREMES = [
    "x[i:].amax()",
    "x[i:].amin()",
    "a[i, : b[i]].amax()",
    "a[i, : b[i]].amin()",
    "a[i:].amax(0)",
    "a[i:].amin(0)",
]


@pytest.mark.parametrize("expression", EXTREMES)
def test_extremes_that_are_infinite_keep_their_gradient(expression):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    a = torch.tensor([[-INF, 1.0, INF], [-INF, -INF, 2.0], [INF, INF, -INF]])
    for x in (torch.tensor([1.0, 3.0, -INF]), torch.tensor([-INF, 2.0, INF])):
        compared(function, [[x, a, torch.tensor([1, 2, 3])]] * 2, True)


def counted_below(x, a, b):
    out = torch.zeros(len(x), dtype=torch.bool)
    for i in range(1, len(x)):
        out[i] = x[i] > x[:i].mean()
    return out


def places_above(x, a, b):
    return [i for i in range(len(x)) if x[: i + 1].mean() > x[0]]


def whole_tenths(x, a, b):
    return [int(x[: i + 1].sum() * 10) for i in range(len(x))]


def chosen_above(x, a, b):
    out = []
    for i in range(len(a)):
        if a[i][b[i] > 0].mean() > 0.1:
            out.append(i)
    return out


@pytest.mark.parametrize("function", [counted_below, places_above, whole_tenths, chosen_above])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 0.7])
def test_sums_that_decide_keep_their_order(function, number):
    b = torch.randint(0, 2, (40, 57), generator=torch.Generator().manual_seed(0))
    compared(function, [[torch.full((40,), number), torch.full((40, 57), number), b]], False)


CASTS = [
    "(a[i, : b[i]] > 0).float().sum()",
    "(a[i][a[i] > 0] < 1).double().sum()",
    "(a[i, : b[i] + 1] > 0).float().amin()",
    "torch.sum(a[i, : b[i]] > 0, dtype=torch.float32)",
    "(a[i][a[i] > -9] > 0).float().amax()",
]


@pytest.mark.parametrize("expression", CASTS)
def test_booleans_as_floats(expression):
    function = appended(expression, "len(x)", {"torch": torch}, join="torch.stack")
    compared(function, [[torch.zeros(5), torch.randn(5, 6), torch.tensor([1, 2, 3, 4, 5])]] * 2, False)
