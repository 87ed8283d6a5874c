"""Values that begin as Python numbers and become tensors, handed out."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

import looplift
from looplift import lift
from looplift.base.compare import difference


def greatest_row(x):
    best, place = -float("inf"), -1
    for i in range(len(x)):
        total = x[i].sum()
        if total > best:
            best, place = total, i
    return best, place


def mean_of_means(x):
    means = []
    for i in range(len(x)):
        total, count = 0.0, 0
        for j in range(x.shape[1]):
            if x[i, j] > 0.3:
                total = total + x[i, j] * 2
                count += 1
        if count > 0:
            means.append(-total / count)
    if not means:
        return torch.zeros(())
    return sum(means) / len(means)


def pairwise_loss(x):
    loss = 0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[i, 0] > x[j, 0]:
                loss = loss + (x[i] - x[j]).pow(2).sum()
    return loss


def taken_back(x):
    value = 0.0
    for i in range(len(x)):
        if x[i, 0] > 0:
            value = x[i].sum()
        elif x[i, 1] > 1:
            value = 0.0
    return value


def number_on_a_side(x):
    value = 0
    for i in range(len(x)):
        value = x[i].sum() if x[i, 0] > 0 else 2.5
    return value


def flag(x):
    found = False
    for i in range(len(x)):
        if x[i, 0] > 0.5:
            found = (x[i] > 1).any()
    return found


def sine_of_the_last(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        last, some = 0.0, False
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                last, some = x[i, j], True
        if some:
            out[i] = torch.sin(last)  # pyright: ignore[reportArgumentType]
    return out


def greatest_of_array(x):
    x = x.detach().numpy()
    best, place = -np.inf, -1
    for i in range(len(x)):
        total = x[i].sum()
        if total > best:
            best, place = total, i
    return best, place


def inputs():
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(7, 6, generator=generator), torch.randn(5, 5, generator=generator)]
    return [*drawn, torch.zeros(4, 3), torch.ones(4, 4), -torch.ones(4, 4), torch.full((3, 3), float("nan"))]


@pytest.mark.parametrize("program", [greatest_row, mean_of_means, pairwise_loss], ids=lambda p: p.__name__)
def test_a_tensor_where_some_iteration_took_one(program):
    drawn = inputs()[:2]
    check(program, *([x] for x in drawn), decisions={"scan"} if program is greatest_row else {"lanes"})


@pytest.mark.parametrize(
    "program",
    [greatest_row, mean_of_means, pairwise_loss, taken_back, number_on_a_side, flag, sine_of_the_last,
     greatest_of_array],
    ids=lambda p: p.__name__,
)  # fmt: skip
def test_a_number_where_none_did(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for x in inputs():
        assert difference(lifted(x), program(x)) is None


def test_what_no_iteration_of_an_inner_loop_made_stays_a_number():
    def below(s, n):
        out = []
        for i in range(n):
            total = 0
            for j in range(i):
                total = total + s[j]
            out.append(total)
        return out

    def counted(s, n):
        out = []
        for i in range(n):
            total = 0.0
            for j in range(COUNTS[i]):
                total = total + s[j]
            out.append(total)
        return out

    for function in (below, counted):
        for values in (torch.arange(4.0), np.arange(4.0)):
            lifted = lift(function, verify="off")
            got, wanted = lifted(values, 3), function(values, 3)
            assert [type(v) for v in got] == [type(v) for v in wanted]
            assert [float(v) for v in got] == [float(v) for v in wanted]


def down_by_ones(x, least, n):
    total = 0
    level = float(n)
    while level > least:
        total = total + sum(level for _ in range(len(x)))
        level = level - 1.0
    return total


def of_each_by_ones(x, least, n):
    totals = []
    for i in range(n):
        total = 0
        level = x[i].item()
        while level > least:
            total = total + level
            level = level - 1.0
        totals.append(total)
    return totals


def rows_by_ones(x, least, n):
    totals = []
    for i in range(n):
        total = 0
        level = x[i]
        while level > least:
            total = total + x[i] * level
            level = level - 1.0
        totals.append(total)
    return totals


def replaced_while(x, least, n):
    state = 0
    for level in x.tolist():
        while level > least + 1:
            level = level - 1.0
            state = least
    return state


def test_an_inner_while_loop_that_never_runs_leaves_the_integer():
    for backend in ("torch", "native"):
        lifted = lift(replaced_while, verify="off", backend=backend)
        for least in (0.5, 9.0):
            assert repr(lifted(torch.tensor([1.0, 2.5]), least, 2)) == repr(
                replaced_while(torch.tensor([1.0, 2.5]), least, 2)
            )


def replaced_beside_tensors(x, y):
    state = 0
    for _ in range(2):
        least = torch.sort(y)[0][0]
        for j in range(x.shape[0] - 1):
            state = float(least) + x[j].item()
            if j > 3:
                least = least * 2
    return state


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_a_kernel_without_an_iteration_leaves_the_integer(backend):
    lifted = lift(replaced_beside_tensors, verify="off", backend=backend)
    for n in (6, 1, 0, 3):
        arguments = torch.arange(float(n)), torch.tensor([2.0, 1.0])
        assert repr(lifted(*arguments)) == repr(replaced_beside_tensors(*arguments))


@pytest.mark.parametrize("program", [down_by_ones, of_each_by_ones, rows_by_ones], ids=lambda p: p.__name__)
@pytest.mark.parametrize("backend", ["torch", "auto", "native"])
def test_a_while_loop_without_an_iteration_leaves_the_integer_that_it_began_with(program, backend):
    x = torch.tensor([1.0, 2.5, 4.0])
    lifted = lift(program, verify="off", backend=backend)
    for least in (0.5, 2.0, 9.0):
        for n in (3, 1, 0):
            got, wanted = lifted(x, least, n), program(x, least, n)
            assert difference(got, wanted) is None
            assert repr(got) == repr(wanted)
    if backend == "torch":
        first = lift(program, verify="off", backend="torch")
        first(x, 0.5, 3)
        assert {loop.decision for loop in first.report().loops} == {"lanes", "sequential"}


COUNTS = [2, 0, 1]
