"""Loops that are left early by a condition that can be known beforehand: searches, and what goes on until their end."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift


def first_one(x):
    out = torch.full((x.shape[0],), -1, dtype=torch.long)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                out[i] = j
                break
    return out


def last_one(x):
    out = torch.full((x.shape[0],), -1, dtype=torch.long)
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1, -1, -1):
            if x[i, j] > 0.5:
                out[i] = j
                break
    return out


def every_second(x):
    out = torch.full((x.shape[0],), -1, dtype=torch.long)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1], 2):
            if x[i, j] > 0.5:
                out[i] = j
                break
    return out


def with_else(x):
    out = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                out[i] = x[i, j] * 2
                break
        else:
            out[i] = -5.0
    return out


def summed_until(x):
    out = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        total = torch.zeros((), dtype=x.dtype)
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                break
            total = total + x[i, j]
        out[i] = total
    return out


def summed_until_and_with(x):
    outs = []
    for i in range(x.shape[0]):
        total, count = torch.zeros((), dtype=x.dtype), 0
        for j in range(x.shape[1]):
            total = total + x[i, j]
            count += 1
            if x[i, j] > 0.5:
                break
        outs.append(total * count)
    return torch.stack(outs)


def left_behind(x):
    out = torch.zeros_like(x[:, 0])
    places = []
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            twice = x[i, j] * 2
            if twice > 1:
                break
        out[i] = twice
        places.append(j)
    return out, places


def several_ends(x):
    out = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                out[i] = 1
                break
            elif x[i, j] < -1:
                out[i] = -x[i, j]
                break
            if j > 4:
                out[i] = 9
                break
    return out


def skipping(x):
    out = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] < 0:
                continue
            if x[i, j] > 0.5:
                out[i] = j + x[i, j]
                break
    return out


def place(row, level):
    for j in range(row.shape[0]):
        if row[j] > level:
            return j
    return -1


def by_a_helper(x):
    return [place(x[i], 0.5) for i in range(x.shape[0])]


def of_a_triangle(x):
    found = []
    for i in range(x.shape[0]):
        at = -1
        for j in range(min(i, x.shape[1])):
            if x[i, j] > 0.5:
                at = j
                break
        found.append(at)
    return found


def last_positive(x):
    outs = []
    for i in range(x.shape[0]):
        last = x[i, 0] * 0
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                break
            if x[i, j] > 0:
                last = x[i, j]
        outs.append(last)
    return torch.stack(outs)


PROGRAMS = [
    first_one,
    last_one,
    every_second,
    with_else,
    summed_until,
    summed_until_and_with,
    left_behind,
    several_ends,
    skipping,
    by_a_helper,
    last_positive,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_of_each_row(function):
    values = [[matrix(5, 7)], [matrix(1, 2)], [-matrix(3, 4).abs() - 1], [matrix(3, 4).abs() + 2]]
    check(function, *values, gradients=False)
    if function not in (left_behind, last_positive, several_ends):  # these hand out what no gradient reaches
        check(function, values[0])


@pytest.mark.parametrize("function", PROGRAMS)
def test_of_rows_with_numbers_that_are_none(function):
    x = matrix(5, 7)
    x[1, 2] = x[3, 0] = float("nan")
    check(function, [x], gradients=False)


def test_rows_of_another_length():
    check(of_a_triangle, [matrix(6, 6)], gradients=False)


def test_a_list_of_positions_of_an_array():
    def first(x):
        out = np.full(x.shape[0], -1)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > 0.5:
                    out[i] = j
                    break
        return out

    check(first, [matrix(5, 7).numpy()], gradients=False)


def test_the_third_hit():
    def third(x):
        out = torch.full((x.shape[0],), -1, dtype=torch.long)
        for i in range(x.shape[0]):
            hits = 0
            for j in range(x.shape[1]):
                if x[i, j] > 0:
                    hits += 1
                if hits == 3:
                    out[i] = j
                    break
        return out

    check(third, [matrix(6, 9)], gradients=False, decisions={"lanes", "scan"})


def test_a_value_of_the_first_hit_has_the_gradient():
    def value(x, w):
        for j in range(x.shape[0]):
            if x[j] > 0.5:
                return x[j] * w[j]
        return x.sum()

    check(value, [vector(9), vector(9)], [-vector(9).abs(), vector(9)])


def test_a_place_in_a_table_of_all_elements():
    def place(x, level):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > level:
                    return i, j, x[i, j]
        return -1, -1, None

    check(place, [matrix(4, 5), 0.5], [matrix(4, 5), 100.0], gradients=False)


def test_what_goes_on_stores():
    def stored(x):
        out = torch.zeros_like(x)
        for j in range(x.shape[0]):
            if x[j] > 1:
                break
            out[j] = x[j] * 3
        return out

    check(stored, [vector(9)], [-vector(9).abs()], gradients=False)


def test_iterations_that_are_not_reached_may_raise():
    def found(places, table):
        out = torch.zeros(places.shape[0])
        for i in range(places.shape[0]):
            for j in range(places.shape[1]):
                if table[places[i, j]] > 0:
                    out[i] = j
                    break
        return out

    table = torch.tensor([0.0, 1.0, -1.0])
    lifted = lift(found, verify="off", backend="torch")
    for _ in range(4):
        assert lifted(torch.tensor([[0, 1, 9], [1, 9, 9]]), table).tolist() == [1.0, 0.0]
        with pytest.raises(IndexError, match="index 9"):
            lifted(torch.tensor([[0, 1, 9], [2, 9, 1]]), table)


def test_what_is_read_is_what_earlier_iterations_stored():
    def shifted(x, y):
        for j in range(x.shape[0]):
            if x[j] > 0.7:
                break
            y[j] = 3.0
        return y

    def run(function):
        memory = torch.zeros(12)
        return function(memory[:10], memory[2:12])

    assert torch.equal(run(lift(shifted, verify="off", backend="torch")), run(shifted))


def test_a_warning_is_raised_where_the_loop_raises_it():
    def least(x, limit):
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                assert x[i, j] < limit, "too large"
                if x[i, j] > 0.5:
                    break
                out[i] += x[i, j]
        return out

    x = torch.tensor([[0.1, 0.2, 0.9, 7.0], [0.1, 0.3, 0.2, 0.1]])
    lifted = lift(least, verify="off", backend="torch")
    assert torch.equal(lifted(x, 5.0), least(x, 5.0))
    x[1, 3] = 8.0
    with pytest.raises(AssertionError, match="too large"):
        lifted(x, 5.0)


def test_returns_over_several_steps():
    def returns(r, n, g):
        out = torch.zeros_like(r)
        for t in range(len(r)):
            total = 0.0
            for k in range(n):
                if t + k >= len(r):
                    break
                total += g**k * r[t + k]
            out[t] = total
        return out

    check(returns, [vector(9), 3, 0.9], [vector(2), 3, 0.9])


def drawn(p, u):
    found = []
    for i in range(p.shape[0]):
        total, place = 0.0, -1
        for j in range(p.shape[1]):
            total += p[i, j].item()
            if total >= u[i]:
                place = j
                break
        found.append(place)
    return found


def drawn_with_the_rest(p, u):
    found = []
    for i in range(p.shape[0]):
        total, rest = 0.0, -1.0
        for j in range(p.shape[1]):
            if p[i, j] > 0.25:
                total += p[i, j].item()
            if total >= u[i]:
                rest = total - u[i].item()
                break
        found.append(rest)
    return found


def drawn_by_tensors(p, u):
    found = []
    for i in range(p.shape[0]):
        total, place = torch.zeros((), dtype=p.dtype), -1
        for j in range(p.shape[1]):
            total = total + p[i, j]
            if total >= u[i]:
                place = j
                break
        found.append(place)
    return found


def partial_sums(p):
    """Sums of the first half of each row, in the order of a loop."""
    totals = torch.zeros(p.shape[0], dtype=p.dtype)
    for j in range(p.shape[1] // 2):
        totals = totals + p[:, j]
    return totals


@pytest.mark.parametrize("function", [drawn, drawn_with_the_rest, drawn_by_tensors])
def test_sums_that_decide_are_added_up_in_order(function):
    p = torch.rand(60, 101, dtype=torch.float64)
    check(function, [p, partial_sums(p)], [p, p[:, 0] * 0 + 1e9], gradients=False, decisions={"lanes", "scan"})


def test_sums_in_single_precision_stay():
    p = torch.rand(60, 101)
    check(drawn_by_tensors, [p, partial_sums(p)], gradients=False, decisions={"lanes", "sequential"})


def test_sums_that_decide_and_are_not_finite():
    p = torch.rand(4, 9, dtype=torch.float64)
    p[1, 5], p[2, 1] = float("inf"), float("nan")
    u = p[:, :4].sum(1)
    assert lift(drawn, verify="off", backend="torch")(p, u) == drawn(p, u)


def left_under_with(x):
    total = 1.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            with torch.no_grad():
                if x[i, j] > 0.5:
                    break
            total += x[i, j] * 2
    return total


def left_or_passed_over(x):
    out = []
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            with torch.no_grad():
                found = bool(x[i, j] > 0.5)
                if found:
                    break
            if not found:
                out.append(x[i, j])
    return torch.stack(out)


@pytest.mark.parametrize("function", [left_under_with, left_or_passed_over])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_iteration_that_leaves_does_what_stands_before_it_alone(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(4):
        x = torch.rand(4, 5, generator=torch.Generator().manual_seed(seed)) * 0.7
        inputs = [x.clone().requires_grad_() for _ in range(2)]
        ends = [one(given) for one, given in zip((function, lifted), inputs, strict=True)]
        torch.testing.assert_close(ends[1], ends[0])
        for end in ends:
            end.sum().backward()
        torch.testing.assert_close(inputs[1].grad, inputs[0].grad)
