"""Loops that lanes run so many times each go on with the first of them, the longest, alone."""

import pytest
import torch

import looplift
from looplift.base.compare import difference


def rand(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def last_states(xs, w):
    states, steps = [], []
    for x in xs:
        h, n = torch.zeros(w.shape[0], dtype=w.dtype), 0
        for row in x:
            h = torch.tanh(w @ h + row)
            n += 1
        states.append(h)
        steps.append(n)
    return torch.stack(states), steps


def decayed(x, steps):
    out, tops = torch.zeros_like(x), torch.zeros_like(x)
    for i in range(len(x)):
        v, top = x[i], x[i]
        for t in range(steps[i]):
            v = v * 0.9 + torch.sin(v + t)
            if v > top:
                top = v
        out[i], tops[i] = v, top
    return out, tops


def pairs(x, steps):
    out = torch.zeros(len(x), len(x), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(len(x)):
            v = x[i]
            for t in range(steps[i]):
                v = torch.sin(v + x[j]) + x[t % len(x)]
            out[i, j] = v
    return out


def skipped(x, steps, take):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        for t in range(steps[i]):
            if not take[i, t]:
                continue
            v = torch.cos(v) + take.shape[1]
        out[i] = v
    return out


def backwards(x, steps):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        for t in range(steps[i] - 1, -1, -1):
            v = torch.sin(v * x[t])
        out[i] = v
    return out


def last_rows(xs, w):
    """Of samples of several lengths; nothing else is carried."""
    out = []
    for x in xs:
        h = torch.zeros(3, dtype=x.dtype)
        for t in range(x.shape[0]):
            h = torch.tanh(torch.cat([x[t], h]) @ w[:6].reshape(6, 3))
        out.append(h)
    return torch.stack(out)


LENGTHS = {"mixed": [3, 0, 7, 1, 7, 2], "alike": [4, 4, 4], "none": [0, 0], "one": [5], "empty": []}


def arguments(program, lengths, seed=0):
    if program is last_rows:
        return [rand(n, 3, seed=seed + n) - 0.5 for n in lengths], rand(6, 3, seed=seed)
    if program is last_states:
        return [rand(n, 3, seed=seed + n) - 0.5 for n in lengths], rand(3, 3, seed=seed)
    x = rand(max(len(lengths), 8), seed=seed)[: len(lengths)] if program is not backwards else rand(8, seed=seed)
    steps = lengths if program is not backwards else (lengths + [0] * 8)[:8]
    if program is skipped:
        return x, steps, rand(len(lengths), 8, seed=seed + 1) > 0.4
    return x, steps


def runs_the_first_lanes(lifted):
    kept = [loop for loop in lifted.report().loops if loop.decision == "kept"]
    return not kept and "first_lanes(" in lifted.source


def outcome(program, arguments):
    try:
        return program(*arguments)
    except (RuntimeError, IndexError) as error:
        return str(error).partition("\n")[0]


@pytest.mark.parametrize(
    "program", [last_states, last_rows, decayed, pairs, skipped, backwards], ids=lambda p: p.__name__
)
def test_the_loop_is_what_it_stands_for(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for name in ("mixed", *LENGTHS):
        given = arguments(program, LENGTHS[name])
        wanted = outcome(program, given)
        for _ in range(2):
            assert difference(outcome(lifted, given), wanted, magnitude=10) is None, name
        if name == "mixed":
            assert runs_the_first_lanes(lifted)


def gradients(program, x, steps):
    x = x.clone().requires_grad_()
    found = program(x, steps)
    found = found[0] if isinstance(found, tuple) else found
    return torch.autograd.grad((found * torch.arange(1.0, 1 + found.numel()).view_as(found)).sum(), x)[0]


@pytest.mark.parametrize("program", [decayed, pairs, backwards], ids=lambda p: p.__name__)
def test_gradients(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for lengths in (LENGTHS["mixed"], LENGTHS["alike"]):
        x, steps = arguments(program, lengths)
        torch.testing.assert_close(gradients(lifted, x, steps), gradients(program, x, steps))
    assert runs_the_first_lanes(lifted)


@pytest.mark.parametrize("program", [last_states, last_rows], ids=lambda p: p.__name__)
def test_gradients_of_samples(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for lengths in ([3, 2, 7, 1, 7], [4, 4], [3, 0, 1]):
        xs, w = arguments(program, lengths)
        found = []
        for run in (program, lifted):
            leaves = [one.clone().requires_grad_() for one in (*xs, w)]
            made = run(leaves[:-1], leaves[-1])
            made = made[0] if isinstance(made, tuple) else made
            total = (made * torch.arange(1.0, 1 + made.numel()).view_as(made)).sum()
            found.append(torch.autograd.grad(total, leaves, allow_unused=True))
        assert [one is None for one in found[0]] == [one is None for one in found[1]]
        for wanted, slope in zip(*found):
            torch.testing.assert_close(slope, wanted)
    assert runs_the_first_lanes(lifted)


def test_a_lane_that_waits_has_no_part_in_what_it_would_divide_by():
    def shares(x, steps):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            v = x[i]
            for t in range(steps[i]):
                v = torch.sqrt(v - t)
            out[i] = v
        return out

    lifted = looplift.lift(shares, verify="off", backend="torch")
    x = torch.tensor([1.0, 9.0, 0.0], dtype=torch.float64)
    for run in (shares, lifted, lifted):
        slope = gradients(run, x, [1, 2, 0])
        torch.testing.assert_close(slope, gradients(shares, x, [1, 2, 0]))
        assert slope.isfinite().all()
    assert runs_the_first_lanes(lifted)


def test_nothing_is_chosen_in_a_step():
    lifted = looplift.lift(decayed, verify="off", backend="torch")
    lifted(*arguments(decayed, LENGTHS["mixed"]))
    inside = lifted.source.partition("    for t in")[2].partition("in_old_order")[0]
    assert inside.count("where(") == 1  # the author's own choice
    assert "active" not in inside
