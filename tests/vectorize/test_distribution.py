"""Loops that remember: what is around the cycle runs in lanes, the cycle alone one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def vector(n: int, *, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def matrix(n: int, m: int, *, seed: int = 0) -> torch.Tensor:
    return vector(n * m, seed=seed).reshape(n, m)


def test_the_cycle_alone_is_sequential():
    def network(x, w, u):
        h = torch.zeros(w.shape[0], dtype=x.dtype)
        states, norms = [], []
        for t in range(x.shape[0]):
            z = x[t] @ u
            h = torch.tanh(z + w @ h)
            states.append(h)
            norms.append((h * 2).sum())
        return torch.stack(states), torch.stack(norms), h

    calls = [[matrix(n, 3), matrix(4, 4), matrix(3, 4)] for n in (1, 2, 6)]
    check(network, *calls, decisions={"sequential"})


def test_the_value_before_is_a_shift():
    def differences(x):
        out = torch.zeros_like(x)
        before = x[0]
        for i in range(1, len(x)):
            out[i] = x[i] - before
            before = x[i]
        return out

    check(differences, [vector(2)], [vector(7)])


def test_samples_outside_and_time_inside():
    def filtered(x, a):
        out = torch.zeros_like(x)
        for n in range(x.shape[0]):
            h = torch.zeros((), dtype=x.dtype)
            for t in range(x.shape[1]):
                h = torch.sin(a[n] * h + x[n, t])
                out[n, t] = h * 2
        return out

    check(filtered, [matrix(3, 5), vector(3)], [matrix(2, 2), vector(2)], decisions={"lanes", "sequential"})


def test_a_condition_of_the_step_is_an_if():
    def stepped(x):
        out = []
        h = torch.zeros(x.shape[1], dtype=x.dtype)
        for t in range(x.shape[0]):
            if t % 2 == 0:
                h = torch.tanh(h + x[t])
            else:
                h = torch.cos(h) * x[t - 1]
            out.append(h)
        return torch.stack(out)

    check(stepped, [matrix(5, 3)], [matrix(1, 3)], decisions={"sequential"})


def heat(u0, c, steps):
    u = u0.clone()
    for _ in range(steps):
        before = u.clone()
        for i in range(1, u.shape[0] - 1):
            u[i] = before[i] + c * (before[i - 1] - 2 * before[i] + before[i + 1])
    return u


def new_buffer(u0, c, steps):
    u = u0.clone()
    for _ in range(steps):
        new = torch.zeros_like(u)
        for i in range(u.shape[0]):
            new[i] = u[i] * c + 1
        u = new
    return u


def two_buffers_back(u0, c, steps):
    before, u = u0.clone(), u0.clone()
    for _ in range(steps):
        new = torch.zeros_like(u)
        for i in range(1, u0.shape[0] - 1):
            new[i] = 2 * u[i] - before[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1])
        before = u
        u = new
    return u, before


def swapped(u0, c, steps):
    u, v = u0.clone(), u0.clone()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1])
        u, v = v, u
    return u, v


def rows_of_time(u0, c, steps):
    u = torch.zeros(steps + 2, u0.shape[0], dtype=u0.dtype)
    u[0] = u0
    u[1] = u0
    for n in range(1, steps + 1):
        for i in range(1, u0.shape[0] - 1):
            u[n + 1, i] = 2 * u[n, i] - u[n - 1, i] + c * (u[n, i - 1] - 2 * u[n, i] + u[n, i + 1])
    return u


@pytest.mark.parametrize("function", [heat, new_buffer, two_buffers_back, swapped, rows_of_time])
def test_time_outside_and_space_inside(function):
    calls = [[vector(n), 0.1, steps] for n, steps in ((3, 1), (7, 2), (6, 5))]
    check(function, *calls, decisions={"sequential", "lanes"})


def test_columns_of_time_of_an_array():
    def field(u0, c, steps):
        u = np.zeros((len(u0), steps))
        u[:, 0] = u0
        for n in range(steps - 1):
            for x in range(1, len(u0) - 1):
                u[x, n + 1] = u[x, n] + c * (u[x - 1, n] - 2 * u[x, n] + u[x + 1, n])
        return u

    check(field, [vector(6).numpy(), 0.1, 5], decisions={"sequential", "lanes"})


def test_an_index_that_may_wrap_is_no_other_place():
    def wrapped(u, start):
        for i in range(u.shape[0]):
            u[i, start] = u[i - 1, start - 1] * 2 + 1
        return u

    check(wrapped, [matrix(4, 1), 0], [matrix(4, 3), 0], gradients=False, decisions={"kept"})


def log_partition(emissions, trans, start, stop):
    losses = []
    for n in range(emissions.shape[0]):
        count = emissions.shape[2]
        alpha = [start[k] + emissions[n, 0, k] for k in range(count)]
        for t in range(1, emissions.shape[1]):
            following = []
            for k in range(count):
                terms = [alpha[p] + trans[p, k] for p in range(count)]
                following.append(torch.logsumexp(torch.stack(terms), dim=0) + emissions[n, t, k])
            alpha = following
        losses.append(torch.logsumexp(torch.stack(alpha) + stop, dim=0))
    return torch.stack(losses)


def best_path_score(emissions, trans, start, stop):
    scores = []
    for n in range(emissions.shape[0]):
        count = emissions.shape[2]
        delta = [emissions[n, 0, k].item() for k in range(count)]
        for t in range(1, emissions.shape[1]):
            new = []
            for k in range(count):
                best = float("-inf")
                for p in range(count):
                    score = delta[p] + trans[p, k].item()
                    if score > best:
                        best = score
                new.append(best + emissions[n, t, k].item())
            delta = new
        scores.append(delta[0])
    return torch.tensor(scores, dtype=torch.float64)


@pytest.mark.parametrize("function", [log_partition, best_path_score])
def test_lists_of_states_are_carried(function):
    calls = [[vector(3 * t * 5).reshape(3, t, 5), matrix(5, 5), vector(5), vector(5, seed=1)] for t in (2, 6)]
    decisions = {"lanes", "sequential"} | ({"scan"} if function is best_path_score else set())
    check(function, *calls, gradients=function is log_partition, decisions=decisions)


def test_a_list_that_changes_its_length():
    def shrinking(x):
        h = [x[k] * 1.0 for k in range(x.shape[0])]
        for t in range(1, 3):
            h = [h[k] + h[k + 1] for k in range(x.shape[0] - t)]
        return torch.stack(h)

    check(shrinking, [vector(5)], [vector(3)], decisions={"lanes", "sequential"})


def rows_of_another_array(x, y, v, q):
    for i in range(len(v)):
        x[2] = v[i]
        if i > 1:
            y[i][q[i]] += x[i]
    return x, y


def rows_told_by_labels(x, y, v, q):
    for i in range(len(v)):
        k = i
        y[q[i]][k] += x[len(v) - 1 - i]
        x[k] = torch.tanh(x[k])
        v[i] = x[k - 1]
    return x, y, v


def rows_that_are_read_later(x, y, v, q):
    for i in range(len(v)):
        k = i
        y[i + 1][k] *= x[k]
        x[2] = y[i // 2, k]
    return x, y


def sums_under_one_name(x, y, v, q):
    for i in range(len(v)):
        k = i
        x[i] = y[k, k] + x[k]
        y[q[i], q[i]] -= v[0]
    return x, y


def chosen_in_an_outer_loop(x, y, v, q):
    for i in range(len(v)):
        for j in range(3):
            if v[i] > 0:
                t = y[i, j] * v[i]
                x[i + 1] = t
                x[j] = x[j + 1] + t
        x[i] = x[i // 2] + x[i + 2]
    return x, y


@pytest.mark.parametrize(
    "program",
    [
        rows_of_another_array,
        rows_told_by_labels,
        rows_that_are_read_later,
        sums_under_one_name,
        chosen_in_an_outer_loop,
    ],
)
def test_each_step_stores_at_its_own_place(program):
    generator = torch.Generator().manual_seed(0)
    for size in ((), (2,)):
        lifted = lift(program, verify="off", backend="torch")
        for n in (5, 1, 7):
            made = [torch.randn(*shape, *size, generator=generator) for shape in ((12,), (12, 12))]
            v = torch.randn(n, generator=generator) if program is chosen_in_an_outer_loop else made[0][:n] * 2
            made += [v, torch.randint(0, n, (n,), generator=generator)]
            given, taken = ([t.clone() for t in made] for _ in range(2))
            assert difference((lifted(*given), given), (program(*taken), taken)) is None
        assert {loop.decision for loop in lifted.report().loops} == {"sequential"}


def the_value_before(x, first, wanted):
    previous, y = first * 2, torch.zeros_like(x)
    for i in range(x.shape[0]):
        if wanted[i] > 0:
            y[i] = previous
        previous = x[i] * 2
    return y


@pytest.mark.parametrize("asking", ["x", "first"])
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_the_value_before_has_a_gradient_where_an_iteration_takes_one(asking, taken):
    wanted = torch.zeros(3)
    wanted[taken] = 1
    x, first = vector(3).requires_grad_(asking == "x"), vector(1)[0].clone().requires_grad_(asking == "first")
    lifted = lift(the_value_before, verify="off", backend="torch")
    assert difference(lifted(x, first, wanted), the_value_before(x, first, wanted)) is None


def the_value_before_in_steps(x, first, wanted):
    previous, y = first * 2, torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(2):
            if i < wanted:
                y[j] = y[j + 1] - previous
        previous = torch.tanh(x[i])
    return y


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_steps_take_the_value_before_one_by_one(wanted):
    x, first = vector(4).requires_grad_(), vector(1)[0].clone()
    lifted = lift(the_value_before_in_steps, verify="off", backend="torch")
    assert difference(lifted(x, first, wanted), the_value_before_in_steps(x, first, wanted)) is None


def sums_of_three(a, b, x, y):
    for i in range(a.shape[0]):
        a[i] = (b[i] + x + y) * 0.333
        y = x
        x = b[i]
    return a


def test_last_values_that_nobody_reads_ask_for_nothing():
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(6, generator=generator, dtype=torch.float64) for _ in range(2)]
    lifted = lift(sums_of_three, verify="off", backend="torch")
    found = []
    for function in (lifted, sums_of_three):
        leaves = [value.clone().requires_grad_() for value in (*given, given[1][5], given[1][4])]
        made = function(leaves[0] * 1, *leaves[1:])
        found.append((made, torch.autograd.grad((made * made).sum(), leaves, allow_unused=True)))
    torch.testing.assert_close(found[0], found[1])
    assert lifted.report().loops[0].decision == "lanes"
