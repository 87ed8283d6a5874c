"""Loops whose lanes part ways: break, return, else, conditions and lengths of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift

PARTED = {"lanes", "sequential"}


def skipping(x):
    outs = []
    for i in range(x.shape[0]):
        total, found = 0.0, -1
        for j in range(x.shape[1]):
            value = x[i, j].item()
            if value < 0:
                continue
            total += value
            if total > 1.0:
                found = j
                break
        else:
            found = 100
        outs.append(found)
    return torch.tensor(outs)


def triangle(x):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        h = torch.zeros((), dtype=x.dtype)
        for j in range(i + 1, x.shape[1]):
            h = torch.sin(h) + x[i, j]
        out[i] = h
    return out


def test_what_a_running_sum_decides_ends_early():
    check(skipping, [matrix(5, 7)], [matrix(1, 2)], [-matrix(3, 4).abs()], gradients=False, decisions={"lanes", "scan"})


def test_a_length_that_moves_with_the_outer_loop():
    check(triangle, [matrix(4, 6)], decisions=PARTED)


def test_newton_until_each_lane_is_done():
    def roots(a):
        out = torch.zeros_like(a)
        steps = torch.zeros(len(a), dtype=torch.long)
        for i in range(len(a)):
            x, k = a[i], 0
            while True:
                change = (x * x - a[i]) / (2 * x)
                x = x - change
                k += 1
                if abs(change) < 1e-9 or k == 50:
                    break
            out[i] = x
            steps[i] = k
        return out, steps

    check(roots, [vector(6).abs() + 0.5], [torch.ones(2, dtype=torch.float64)], decisions=PARTED)


def test_lengths_of_their_own():
    def encoded(x, lengths):
        out = torch.zeros(x.shape[0], dtype=x.dtype)
        for i in range(x.shape[0]):
            h = torch.zeros((), dtype=x.dtype)
            for t in range(lengths[i]):
                h = torch.tanh(h + x[i, t])
            out[i] = h
        return out

    check(encoded, [matrix(4, 6), [3, 1, 6, 2]], [matrix(4, 6), [3, 0, 6, 2]], decisions=PARTED)


def stepped(origin, speed, far):
    t = 0.02
    for n in range(20):
        distance = abs(origin + t * speed) - 0.5
        if distance < 1e-3:
            return t, 1, n
        t += distance
        if t > far:
            break
    return -1.0, -2, n


def test_break_and_return_in_a_helper():
    def marched(origins, speeds, far):
        times = torch.zeros(len(origins), dtype=torch.float64)
        labels = torch.zeros(len(origins), dtype=torch.long)
        for i in range(len(origins)):
            t, which, n = stepped(origins[i].item(), speeds[i].item(), far)
            times[i] = t
            labels[i] = which * 100 + n
        return times, labels

    check(marched, [vector(9) * 3, vector(9, seed=1), 10.0], gradients=False, decisions={"lanes"})


def test_integers_of_python_and_stores_in_a_while_loop():
    def collatz(x, sums):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            n, count = int(x[i]), 0
            while n != 1:
                if n % 2 == 0:
                    n //= 2
                else:
                    n = 3 * n + 1
                count += 1
                sums[i] += count
                if count > 30:
                    break
            out[i] = count
        return out

    check(collatz, [torch.tensor([1, 6, 27, 48, 7]), torch.zeros(5)], gradients=False, decisions=PARTED)


def test_an_assertion_of_a_lane_that_runs():
    def asserting(x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            total = torch.zeros((), dtype=x.dtype)
            for j in range(5):
                assert total < 10.0, f"row {i}"
                total = total + x[i] * j
                if x[i] < 1:
                    break
            out[i] = total
        return out

    check(asserting, [torch.tensor([0.5, 1.2, 1.4])], decisions=PARTED)
    lifted = lift(asserting, backend="torch")
    with pytest.raises(AssertionError, match="row 1"):
        lifted(torch.tensor([0.5, 9.0, 20.0]))


def test_appends_at_the_end_of_both_sides():
    def payoffs(noise, start, limit):
        values, exits = [], []
        for p in range(noise.shape[0]):
            price, out = start, -1
            for t in range(noise.shape[1]):
                price = price + price * 0.1 * noise[p, t]
                if price >= limit:
                    out = t
                    break
                if price < 1.0:
                    price = torch.ones_like(price)
            if out >= 0:
                values.append(torch.tensor(0.3 * (out + 1), dtype=noise.dtype))
            else:
                values.append(torch.clamp(price - 1.5, min=0.0))
            exits.append(out)
        return torch.stack(values), exits

    start = torch.tensor(2.0, dtype=torch.float64)
    check(payoffs, [matrix(5, 9) * 2, start, 2.9], gradients=False, decisions=PARTED)


def climbs(x, y, z):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        v = x[i]
        steps = 0
        while steps < 5:
            if v > 100.0:
                v = v + y[i]
                if v > 200.0:
                    v = v * z[0]
                elif v > 150.0:
                    v = v + z[0]
            else:
                v = torch.sin(v) + 1
            steps += 1
            if v > 1.9:
                break
        out[i] = v
    return out


def starts_anew(x, y, z):
    found = []
    for i in range(x.shape[0]):
        v = x[i]
        while v > 0:
            v = y[i] - v.abs() if v < 50.0 else y[0] * -1.0
        if v < -1000.0:
            v = v * z[0]
        elif v < -900.0:
            v = v + z[0]
        found.append(v)
    return torch.stack(found)


@pytest.mark.parametrize("function", [climbs, starts_anew])
def test_what_no_lane_reached_has_no_gradient(function):
    """None where the loop gives None: in nested branches, in loops that lanes leave, where all lanes start anew."""
    calls = [[vector(4).abs() * scale + 0.01, vector(4), vector(2)] for scale in (1.0, 60.0, 125.0, 160.0, 400.0)]
    check(function, *calls, decisions=PARTED)


def test_lanes_whose_number_changes_in_a_loop_that_stays():
    def cheapest(p, n):
        m = np.zeros((n, n))
        for span in range(2, n + 1):
            for i in range(n - span + 1):
                j = i + span - 1
                m[i, j] = np.inf
                for k in range(i, j):
                    q = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                    if q < m[i, j]:
                        m[i, j] = q
        return m

    p = np.random.default_rng(0).random(9)
    lifted = lift(cheapest, backend="torch", verify="off")
    for n in (2, 3, 8):
        np.testing.assert_array_equal(lifted(p, n), cheapest(p, n))
    assert [loop.decision for loop in lifted.report().loops] == ["sequential", "lanes", "lanes"]


def forgets(x, y):
    h = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        w = h * x[i] * y[i]
        if w > 1000.0:
            h = w
        else:
            h = h.detach() + 1
    return h


def test_a_result_that_some_runs_make_of_numbers_alone():
    small, large = [vector(4), vector(4)], [vector(4) * 1e5, vector(4) * 1e5]
    for backend in ("torch", "auto", "native"):
        lifted = lift(forgets, verify="off", backend=backend)
        for x, y in (small, large, small):
            x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
            assert lifted(x, y).requires_grad == forgets(x, y).requires_grad
