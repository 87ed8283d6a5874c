"""Carried values of known form become scans: sums, linear recurrences, the last one taken, the greatest so far."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift
from looplift.base.compare import difference


def running_sum(x):
    out = torch.zeros_like(x)
    total = 0.0
    for i in range(x.shape[0]):
        total = total + x[i]
        out[i] = total
    return out, total


def average(x):
    out = []
    h = torch.zeros((), dtype=x.dtype)
    for t in range(x.shape[0]):
        h = 0.9 * h + 0.1 * x[t]
        out.append(h)
    return torch.stack(out)


def discounted(x):
    out = torch.zeros_like(x)
    running = 0.0
    for t in range(x.shape[0] - 1, -1, -1):
        running = x[t] + 0.5 * running
        out[t] = running
    return out


def alternating(x):
    out = torch.zeros_like(x)
    h = torch.ones((), dtype=x.dtype)
    for t in range(x.shape[0]):
        h = (x[t] - h) * x[t] / 2
        out[t] = h
    return out


@pytest.mark.parametrize("function", [running_sum, average, discounted, alternating])
def test_linear_recurrences(function):
    check(function, [vector(2)], [vector(9)], [vector(33)], decisions={"scan"})


def test_returns_that_start_again():
    def returns(rewards, values, dones, last):
        steps, count = rewards.shape
        out = torch.zeros_like(rewards)
        for n in range(count):
            running = torch.zeros((), dtype=rewards.dtype)
            for t in reversed(range(steps)):
                if dones[t, n]:
                    following = torch.zeros((), dtype=rewards.dtype)
                    running = torch.zeros((), dtype=rewards.dtype)
                elif t == steps - 1:
                    following = last[n]
                else:
                    following = values[t + 1, n]
                running = rewards[t, n] + 0.9 * following - values[t, n] + 0.8 * running
                out[t, n] = running
        return out

    dones = matrix(6, 3) > 0.5
    check(returns, [matrix(6, 3), matrix(6, 3, seed=1), dones, vector(3)], decisions={"lanes", "scan"})


def test_a_growing_recurrence_that_overflows_on_the_way_is_the_loop():
    def grown(x, a):
        out = torch.zeros_like(x)
        h = torch.zeros((), dtype=x.dtype)
        for t in range(x.shape[0]):
            h = a[t] * h + x[t]
            out[t] = h
        return out

    check(grown, [torch.zeros(64, dtype=torch.float64), torch.full((64,), 1e300, dtype=torch.float64)],
          gradients=False, decisions={"kept"})  # fmt: skip


def test_counters_and_segments():
    def segments(tokens, end):
        out = torch.zeros(len(tokens), dtype=torch.int64)
        current, place = 0, 0
        places = []
        for i in range(len(tokens)):
            out[i] = current
            places.append(place)
            place += 1
            if tokens[i] == end:
                current += 1
                place = 0
        return out, torch.tensor(places)

    check(segments, [torch.tensor([3, 1, 4, 1, 1, 5, 9]), 1], [torch.tensor([2]), 1], gradients=False,
          decisions={"scan"})  # fmt: skip


def greatest(x):
    out = torch.zeros_like(x)
    best, where = x[0], 0
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
            where = i
        out[i] = best
    return out, where


def least_or_equal(x):
    best, where = float("inf"), -1
    for i in range(len(x)):
        value = x[i].item()
        if value <= best:
            best, where = value, i
    return best, where


def by_builtin(x):
    out = []
    best = -1.0
    for i in range(len(x)):
        best = max(best, x[i].item())
        out.append(best)
    return torch.tensor(out)


TIES = torch.tensor([1.0, 3.0, 0.0, 3.0, -0.0, float("nan"), 0.0, 5.0, 5.0], dtype=torch.float64)


@pytest.mark.parametrize("function", [greatest, least_or_equal])
def test_the_greatest_so_far(function):
    check(function, [TIES], [-TIES], [TIES[:2]], decisions={"scan"})


def test_the_greatest_by_max():
    check(by_builtin, [TIES[:5]], [vector(9)], gradients=False, decisions={"scan"})


def test_the_nearest_of_each_row():
    def nearest(d):
        out = torch.zeros(d.shape[0], dtype=torch.long)
        for i in range(d.shape[0]):
            best, where = float("inf"), -1
            for j in range(d.shape[1]):
                if d[i, j] < best:
                    best, where = d[i, j], j
            out[i] = where
        return out

    rows = torch.randint(0, 4, (5, 6), generator=torch.Generator().manual_seed(0)).double()
    check(nearest, [rows], [torch.full((2, 3), float("nan"))], gradients=False, decisions={"lanes", "scan"})


def test_the_last_value_under_a_condition():
    def held(x, valid):
        out = torch.zeros_like(x)
        last, found = torch.zeros((), dtype=x.dtype), False
        for i in range(len(x)):
            if valid[i]:
                last = x[i] * 2
                found = True
            out[i] = last
        return out, found

    x = vector(7)
    check(held, [x, x > 0], [x, x > 100], gradients=False, decisions={"scan"})
    check(held, [x, x > 0], decisions={"scan"})


def test_arrays_scan_as_well():
    def smooth(x):
        out = np.zeros_like(x)
        h, best = 0.0, x[0]
        for t in range(len(x)):
            h = 0.5 * h + x[t]
            best = max(best, x[t])
            out[t] = h + best
        return out

    check(smooth, [vector(9).numpy()], [vector(1).numpy()], decisions={"scan"})


def test_a_deciding_sum_keeps_its_order():
    def first_over(x, limit):
        out = torch.zeros_like(x)
        total = 0.0
        for i in range(len(x)):
            total += x[i].item()
            if total > limit:
                out[i] = 1.0
        return out

    check(first_over, [torch.tensor([0.1] * 30, dtype=torch.float64), 1.0], gradients=False, decisions={"scan"})


def test_advantages_from_a_number_before_the_loop():
    def advantages(rewards, values, dones, last, ended):
        out = torch.zeros_like(rewards)
        running = 0.0
        for t in range(len(rewards) - 1, -1, -1):
            if t < len(rewards) - 1:
                alive, following = 1 - dones[t + 1], values[t + 1]
            else:
                alive, following = 1 - ended, last
            running = rewards[t] + 0.9 * following * alive - values[t] + 0.7 * alive * running
            out[t] = running
        return out

    ends = (matrix(6, 3) > 0.5).double()
    check(advantages, [matrix(6, 3), matrix(6, 3, seed=1), ends, vector(3), ends[0]],
          gradients=False, decisions={"scan"})  # fmt: skip


def test_differences_from_a_number_before_the_loop():
    def differences(x):
        out = torch.zeros_like(x)
        before = 0.0
        for i in range(len(x)):
            out[i] = x[i] - before
            before = x[i] * 2
        return out

    check(differences, [matrix(4, 3)], [matrix(1, 3)])


@pytest.mark.parametrize("start", [0.0, -3e38])
def test_sums_that_overflow_on_the_way_are_the_loops(start):
    def running(x):
        s, out = torch.full((), start), []
        for t in range(len(x)):
            s = s + x[t]
            out.append(s)
        return torch.stack(out)

    x = torch.tensor([3e38, 3e38, -3e38, 1.0])
    lifted = lift(running, verify="off", backend="torch")
    for _ in range(2):
        assert torch.equal(lifted(x), running(x))


def sums_before(x, s, y):
    for i in range(len(x)):
        y[i] = s * 2
        s = s + x[i]
    return y, s


@pytest.mark.parametrize("rank", [0, 1])
def test_a_scan_of_a_live_in_that_is_read_in_each_iteration(rank):
    lifted = lift(sums_before, verify="off", backend="torch")
    for n in (5, 1, 4):
        shape = (3,) * rank
        made = [torch.arange(1.0, 1 + n * 3**rank).reshape(n, *shape), torch.ones(shape), torch.zeros(n, *shape)]
        given, taken = ([t.clone() for t in made] for _ in range(2))
        assert difference((lifted(*given), given), (sums_before(*taken), taken)) is None
    assert [loop.decision for loop in lifted.report().loops] == ["scan"]


def decaying(x):
    outs = []
    h = x[0] * 0 + 3
    for t in range(x.shape[0]):
        h = 0.75 * h + x[t]
        outs.append(h)
    return torch.stack(outs)


def growing(x):
    outs = []
    h = x[0] * 0 + 3
    for t in range(x.shape[0]):
        h = 1.25 * h + x[t]
        outs.append(h)
    return torch.stack(outs)


def begun_again(x):
    outs = []
    h = torch.zeros((), dtype=x.dtype)
    for t in range(x.shape[0]):
        if x[t] > 1:
            h = torch.zeros((), dtype=x.dtype)
        h = x[t] + 0.5 * h
        outs.append(h)
    return torch.stack(outs)


@pytest.mark.parametrize("function", [decaying, growing, begun_again])
@pytest.mark.parametrize("size", [2, 63, 64, 65, 200])
def test_recurrences_of_any_length(function, size):
    check(function, [vector(size)], decisions={"scan"})


@pytest.mark.parametrize("size", [2, 64, 65])
def test_recurrences_of_rows(size):
    check(decaying, [matrix(size, 3)], [matrix(size, 1)], decisions={"scan"})


def test_a_decay_of_numbers_that_are_not_finite():
    x = vector(9)
    x[3] = float("inf")
    check(decaying, [vector(9)], [x], gradients=False, decisions={"scan"})


def test_numbers_of_hits_before_each_place():
    def documents(tokens):
        out = torch.zeros(len(tokens), dtype=torch.int64)
        current = 5
        for i in range(len(tokens)):
            out[i] = current
            if tokens[i] == 2:
                current += 1
        return out, current

    check(documents, [torch.tensor([1, 2, 3, 2, 2, 0])], gradients=False, decisions={"scan"})


def two_greatest(x):
    firsts, seconds = [], []
    for i in range(x.shape[0]):
        first = second = -9.0
        for j in range(x.shape[1]):
            v = float(x[i, j])
            if v > first:
                second = first
                first = v
            elif v > second:
                second = v
        firsts.append(first)
        seconds.append(second)
    return firsts, seconds


def peaks_that_are_forgotten(x):
    peaks = torch.zeros(x.shape)
    for i in range(x.shape[0]):
        peak = 0.0
        for j in range(x.shape[1]):
            v = float(x[i, j])
            if v < -0.5:
                peak = -2.0
            elif v > peak:
                peak = v
            peaks[i, j] = peak
    return peaks


def greatest_of_either_sign(x):
    found = []
    for i in range(x.shape[0]):
        peak = -9.0
        for j in range(x.shape[1]):
            v = float(x[i, j])
            if j % 2 == 0:
                if v > peak:
                    peak = v
            elif -v > peak:
                peak = -v
        found.append(peak)
    return found


def least_or_greatest(x):
    found = []
    for i in range(x.shape[0]):
        last = 0.0
        for j in range(x.shape[1]):
            v = float(x[i, j])
            if j % 3 == 0:
                if v > last:
                    last = v
            elif v < last:
                last = v
        found.append(last)
    return found


@pytest.mark.parametrize(
    "function", [two_greatest, peaks_that_are_forgotten, greatest_of_either_sign, least_or_greatest]
)
def test_values_that_are_not_only_passed(function):
    x = torch.randn(6, 9, generator=torch.Generator().manual_seed(3))
    check(function, [x], gradients=False, decisions={"lanes", "sequential"})


def greatest_of_some(x):
    found = []
    for i in range(x.shape[0]):
        peak = -9.0
        for j in range(x.shape[1]):
            if j % 3 != 1:
                peak = max(peak, float(x[i, j]))
        found.append(peak)
    return found


def test_the_greatest_of_some_is_no_loop_over_places():
    check(greatest_of_some, [torch.randn(6, 9, generator=torch.Generator().manual_seed(3))], gradients=False)


def test_gradients_of_gradients_of_recurrences():
    def recurrence(factors, terms):
        h = torch.ones_like(terms[0])
        out = []
        for t in range(terms.shape[0]):
            h = factors[t] * h + terms[t]
            out.append(h)
        return torch.stack(out)

    lifted = lift(recurrence, backend="torch")
    for steps in (1, 2, 3, 70):
        found = []
        for function in (recurrence, lifted):
            factors = (matrix(steps, 3) / 4).requires_grad_()
            terms = matrix(steps, 3, seed=1).requires_grad_()
            firsts = torch.autograd.grad(function(factors, terms).pow(3).sum(), (factors, terms), create_graph=True)
            seconds = torch.autograd.grad(sum(first.pow(2).sum() for first in firsts), (factors, terms))
            found.append([*firsts, *seconds])
        torch.testing.assert_close(found[1], found[0])
    assert [loop.decision for loop in lifted.report().loops] == ["scan"]


def decays_of_zeros(x, shape):
    held = torch.zeros(shape, dtype=x.dtype)
    rows = []
    for i in range(x.shape[0]):
        held = held * 0.5 + x[i]
        rows.append(held)
    return torch.stack(rows), held


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 3), (3, 1), (2, 4, 1)])
@pytest.mark.parametrize("wide", [False, True])
def test_a_start_of_more_elements_than_what_is_added(shape, wide):
    check(decays_of_zeros, [matrix(5, shape[-1]) if wide else vector(5), shape], decisions={"scan"})


def test_a_start_of_other_sizes_than_what_is_added_raises_as_the_loop_does():
    with pytest.raises(RuntimeError, match="must match the size"):
        lift(decays_of_zeros)(matrix(5, 3), (4,))


def truths(x):
    count, rows = 0, []
    for i in range(x.shape[0]):
        count = count + bool(x[i] > 0.5)
        count += True
        rows.append(count)
    return count, rows


def differences_of_truths(n):
    count, rows = 0, []
    for t in range(n):
        count = (count - (t < 3)) - (t > 1)
        rows.append(count)
    return count, rows


def faded_truths(x):
    level = 0.0
    for t in range(x.shape[0]):
        level = level * 0.5 + (t < 3) + (t > 1)
    return level


def test_truths_that_are_added_are_numbers():
    check(truths, [vector(7)], decisions={"scan"})
    check(differences_of_truths, [7], decisions={"scan"})
    check(faded_truths, [vector(7)], decisions={"scan"})


def last_state(x, s):
    states = []
    for v in x:
        s = s * 0.5 + v
        states.append(s.square())
    return states, s


@pytest.mark.parametrize("count", [3, 65, 2100])
@pytest.mark.parametrize("shape", [(), (4,), (3, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_states_lie_in_memory_as_those_of_the_loop(count, shape, turned):
    x = torch.randn(count, *shape, dtype=torch.float64)
    if turned and shape:
        x = torch.randn(*shape, count, dtype=torch.float64).movedim(-1, 0)
    state = torch.randn(shape, dtype=torch.float64)
    if turned and len(shape) == 2:
        x, state = x.contiguous(), state.T.contiguous().T
    (mine, last), (theirs, wanted) = lift(last_state, verify="off", backend="torch")(x, state), last_state(x, state)
    torch.testing.assert_close(last, wanted)
    torch.testing.assert_close(mine, theirs)
    if not (turned and len(shape) == 2):
        assert last.stride() == wanted.stride()
