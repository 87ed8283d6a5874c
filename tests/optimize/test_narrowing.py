"""Loops whose lanes leave at different times go on with those that are left."""

import math

import pytest
import torch

import looplift
from looplift.base.compare import difference

LANES = 2500


def rand(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def halvings(x):
    out, counts = torch.zeros_like(x), torch.zeros(len(x), dtype=torch.long)
    for i in range(len(x)):
        v, n = x[i] * 1000, 0
        while v > x[i]:
            v = v / 2 + 0.1 * torch.sin(v)
            n += 1
            if n >= 40:
                break
        out[i], counts[i] = v, n
    return out, counts


def knocked_out(x):
    values, ends = [], []
    for p in range(x.shape[0]):
        s, end = x[p, 0], -1
        for t in range(x.shape[1]):
            s = s * (0.7 + x[p, t])
            if s > 2.0:
                end = t
                break
        values.append(s)
        ends.append(end)
    return torch.stack(values), ends


def relaxed(x):
    out = []
    for k in range(x.shape[0]):
        v = torch.zeros_like(x[k])
        n = 0
        while n < 30:
            r = x[k] - v * x[k].sum()
            if r.norm() < 0.05:
                break
            v = v + 0.1 * r
            n += 1
        out.append(v)
    return torch.stack(out)


def walked(x):
    table = torch.arange(len(x)) // 2
    total = torch.zeros_like(x)
    for i in range(len(x)):
        j, s = i, x[i]
        while j > 0:
            j = int(table[j])
            s = s + x[j]
        total[i] = s
    return total


def nested(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v, n = x[i] * 100, 0
        while v > 0.5 and n < 25:
            w = v
            for j in range(2):
                w = w * (0.9 - 0.1 * j)
            v = w
            n += 1
        out[i] = v + n
    return out


def checked(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v, n = x[i], 0
        while v > 1e-2:
            v = v * 0.5
            n += 1
            assert n < 12, f"lane {i}"
        out[i] = v
    return out


def escaped(x):
    """Of each pair of two rows, with a step that both share."""
    n = len(x) // 2
    counts = torch.zeros(n, len(x) - n, dtype=torch.int64)
    last = torch.zeros(n, len(x) - n, dtype=torch.float64)
    for i in range(n):
        for j in range(len(x) - n):
            a, b, k = x[i].item() * 3 - 2, x[n + j].item() * 2 - 1, 0
            re = im = 0.0
            while k < 30 and re * re + im * im <= 4.0:
                re, im = re * re - im * im + a, 2.0 * re * im + b
                k += 1
            counts[i, j], last[i, j] = k, re
    return counts, last


def walks_of_pairs(x):
    """The values of rows and columns are read anew in each step, and what is carried is a vector."""
    out, ends = [], []
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            v, end = torch.stack([x[i, 0], x[j, 0]]), -1
            for t in range(x.shape[1]):
                v = v * (0.6 + x[i, t]) + 0.1 * x[j, t]
                if v.sum() > 2.0:
                    end = t
                    break
            out.append(v)
            ends.append(end)
    return torch.stack(out), ends


def outcome(function, x):
    try:
        return function(x)
    except (AssertionError, RuntimeError) as error:
        return str(error).partition("\n")[0]


CASES = {
    halvings: (LANES,), knocked_out: (LANES, 15), relaxed: (LANES, 3), walked: (LANES,), nested: (LANES,),
    checked: (LANES,),
}  # fmt: skip


@pytest.mark.parametrize("program", CASES, ids=lambda p: p.__name__)
def test_the_loop_is_what_it_stands_for(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    shape = CASES[program]
    for n in (LANES, 1100, 7, 1, 0):
        x = rand(n, *shape[1:], seed=n)
        wanted = outcome(program, x)
        for _ in range(2):
            assert difference(outcome(lifted, x), wanted, magnitude=10) is None
    assert ("those_that_go_on(" in lifted.source) == (program is not nested)  # whose inner loop uses its memory again


@pytest.mark.parametrize(
    ("program", "shapes"),
    [(escaped, [(120,), (7,), (2,), (1,), (0,)]), (walks_of_pairs, [(40, 9), (3, 5), (1, 2), (1, 1)])],
)
def test_lanes_along_two_axes(program, shapes):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for shape in shapes:
        x = rand(*shape, seed=shape[0])
        wanted = outcome(program, x)
        for _ in range(2):
            assert difference(outcome(lifted, x), wanted, magnitude=10) is None
        if shape is shapes[0]:
            assert "as_axes(" in lifted.source


def test_an_exception_after_lanes_have_left():
    lifted = looplift.lift(checked, verify="off", backend="torch")
    x = rand(LANES)
    x[77] = 1e9
    assert outcome(lifted, x) == outcome(checked, x) == "lane 77"


def swung(x):
    """Python's own sine decides when a lane is done, and what is carried is put together and taken apart."""
    out, counts = torch.zeros_like(x), []
    for i in range(len(x)):
        angle, speed, n = x[i].item() * 3, 0.0, 0
        while n < 40:
            both = torch.stack([x[i] + angle, x[i] - speed])
            speed = speed - 0.3 * math.sin(angle)
            angle = angle + 0.3 * speed * (1 + both[0].item() * both[1].item() * 0.01)
            n += 1
            if abs(angle) > 1.5:
                break
        out[i] = angle
        counts.append(n)
    return out, counts


def test_few_lanes_are_many_where_python_computes_one_after_the_other():
    lifted = looplift.lift(swung, verify="off", backend="torch")
    for n in (200, 65, 3, 1):
        x = rand(n, seed=n)
        wanted, counts = swung(x)
        for _ in range(2):
            found = lifted(x)
            assert torch.equal(found[0], wanted)
            assert found[1] == counts
    assert not [loop for loop in lifted.report().loops if loop.decision == "kept"]
    assert ", 64)" in lifted.source and "of_each(math.sin" in lifted.source


def test_with_gradients_all_lanes_stay():
    lifted = looplift.lift(halvings, verify="off", backend="torch")
    x = rand(1100).requires_grad_()
    assert difference(lifted(x), halvings(x), magnitude=10) is None
    assert "those_that_go_on(" not in lifted.source


def test_arguments_stay_as_they_are():
    lifted = looplift.lift(halvings, verify="off", backend="torch")
    x = rand(LANES)
    kept = x.clone()
    first = lifted(x)[0]
    first.zero_()
    assert torch.equal(x, kept)


def test_names_of_the_author():
    def waiting_lanes(x, waiting):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            active, held = x[i], waiting[i]
            while active < 4:
                active = active * 1.3 + held
            out[i] = active
        return out

    lifted = looplift.lift(waiting_lanes, verify="off", backend="torch")
    x, waiting = rand(LANES) + 0.1, rand(LANES, seed=3)
    assert difference(lifted(x, waiting), waiting_lanes(x, waiting), magnitude=10) is None
