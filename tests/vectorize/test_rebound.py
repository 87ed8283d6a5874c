"""Live-ins that are read under another name after their own was given to something else."""

from __future__ import annotations

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def shifted(x):
    orig = x
    x = x.clone()
    for i in range(1, len(x)):
        x[i] = orig[i - 1] * 2 + orig[i]
    return x


def conditional(x):
    orig = x
    x = torch.zeros(len(x))
    for i in range(1, len(x)):
        if orig[i] > 0:
            x[i] = orig[i - 1] * 2 + orig[i]
    return x, orig + 1


def summed(x):
    orig = x
    for t in range(3):
        x = torch.tanh(x + orig.sum())
    return x


def states(x, h):
    hs = []
    old = h
    for t in range(len(x)):
        h = torch.tanh(x[t] * h + old)
        hs.append(h)
    return torch.stack(hs), old


def chosen(x, h):
    old = h
    for t in range(len(x)):
        if x[t].sum() > 0:
            h = torch.tanh(x[t] * h + torch.abs(old))
        else:
            h = h * torch.sin(old)
    return h


def alternating(x, h):
    old = h
    for t in range(3):
        if t != 1:
            h = h + torch.abs(old)
        else:
            h = h * torch.sin(old)
    return h


def counted(x, n):
    m = n
    outs = []
    for i in range(len(x)):
        n = n + i
        outs.append(x[i] * n + m)
    return torch.stack(outs), n


def restarted(x, h):
    old = h
    for t in range(3):
        if t != 1:
            h = torch.exp(-h)
        else:
            h = old
    return h, old


def same_index(x, i):
    k = i
    for i in range(3):
        x = torch.sin(x) * 2 + k
    return x, i


def skip_connections(x, layers):
    skip = x
    for l in layers:
        x = torch.tanh(x @ l)
        x = x + skip
    return x


def index_as_argument(x, t):
    u = t
    out = torch.zeros(len(x))
    for t in range(len(x)):
        out[t] = x[t] * u + t
    return out, u


def started(x, h):
    old = h
    h = h * 2
    for i in range(len(x)):
        h = torch.tanh(h + old[i])
    return h


def twice(x, s):
    first = s
    for r in x:
        s = s + r.sum()
    for r in x:
        s = s * torch.cos(first) + r.sum()
    return s


def nested(x, s):
    first = s
    for r in x:
        for q in r:
            s = torch.tanh(s + q)
        s = s + first
    return s


def named_active(x, active):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        v = x[i]
        while v < 3:
            v = v * 1.5 + abs(active[i]) + 0.1
        out[i] = v + active[i]
    return out


def summed_in_lanes(x, total):
    for i in range(len(x)):
        level = x[i]
        while level > 0.1:
            level = level * 0.5
            total = total + x[i]
    return total


def put_aside(x, total):
    for i in range(len(x)):
        before, total, level = total, 0.0, x[i]
        while level > 0.1:
            level = level * 0.5
            total = total + x[i]
        total = before + total
    return total


def named_as_temporaries(x, value, index, t, choice, mask, step):
    out = torch.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        v = x[i]
        if v > 0:
            v = v * value[i]
        else:
            v = v - t
        s = s * 0.5 + v * choice
        out[i] = s + mask[i] * index - step
    return out * t + value


def taking_turns(x, y, later, now):
    """The first statement gives one chain of values, the second one the other."""
    for j in range(len(x)):
        now, later = later, now + x[j].sum()
        now, later = later, now + y[j].prod() * 1.5
    return now, later


def taking_turns_with_more(x, y, later, now):
    for j in range(len(x)):
        before = abs(now)
        now, later = later, now * 0.3 + x[j].sum()
        now, later = later, now + (before - y[j].prod()) * 1.5
    return now, later


def taking_turns_on_sides(x, y, flag, now, later):
    for j in range(len(x)):
        if flag > 0:
            now, later = later, now + x[j]
        else:
            now, later = now + 1, now * 2
        now, later = later, now + (0.5 - y[j]) * 1.5
    return now, later


def made_before(x, n):
    states = [2 * x]
    copy = x.clone()
    for _ in range(n):
        x = torch.tanh(x) * x.sum()
        states.append(x)
    return torch.stack(states), copy


def copied_before(x, n):
    frames = [x.clone()]
    for _ in range(n):
        inner = x.clone()
        inner[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[2:] + x[:-2])
        x = inner
        frames.append(x.clone())
    return torch.stack(frames)


def item_of_before(x, n):
    first = x[0]
    out = []
    for _ in range(n):
        x = torch.tanh(x) * first
        out.append(x)
    return torch.stack(out)


def exchanged(x, n):
    before, double = x, 2 * x
    x = double
    out = []
    for _ in range(n):
        x, before = torch.tanh(x + before.sum()), x
        out.append(x)
    return torch.stack(out), before


def numbers(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64) - 0.4


ROW, ROWS, ONE = numbers(6), numbers(6, 6), numbers()
CASES = [
    (shifted, ROW),
    (conditional, ROW),
    (summed, ROW),
    (states, ROWS, ROW),
    (chosen, ROWS, ROW),
    (alternating, ROW, ROW),
    (counted, ROW, 3),
    (restarted, ROWS, ROW),
    (same_index, ROW, 5),
    (skip_connections, ROWS, [ROWS, ROWS + 1]),
    (index_as_argument, ROW, 5),
    (started, ROW, ROW),
    (twice, ROWS, ONE),
    (nested, ROWS, ONE),
    (taking_turns, ROWS, ROWS / 2, ONE.sum(), 2 * ONE.sum()),
    (taking_turns, ROWS, ROWS / 2, 1, 0.0),
    (taking_turns_with_more, ROWS, ROWS / 2, 1, 0.0),
    (taking_turns_with_more, ROWS, ROWS / 2, 0.5, 2 * ONE.sum()),
    (taking_turns_on_sides, ROW.half(), ROW.half() / 2, torch.tensor(1), 0.0, 1),
    (taking_turns_on_sides, ROW.half(), ROW.half() / 2, torch.tensor(1), ROW.sum().half(), ROW.sum().half() / 4),
    (taking_turns_on_sides, ROW.half(), ROW.half() / 2, torch.tensor(-1), ROW.sum().half(), ROW.sum().half() / 4),
    (made_before, ROW, 4),
    (copied_before, ROW, 4),
    (item_of_before, ROW, 4),
    (exchanged, ROW, 4),
    (named_active, ROW, ROW),
    (summed_in_lanes, ROW.abs(), 1.5),
    (summed_in_lanes, ROW.abs(), ONE.sum()),
    (put_aside, ROW.abs(), 1.5),
    (named_as_temporaries, ROW, ROW, 3, 2.0, 0.5, ROW, ONE),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_names_that_are_bound_anew(case, backend):
    function, *values = case
    lifted = lift(function, verify="off", backend=backend)
    why = difference(lifted(*values), function(*values), magnitude=1.0)
    assert not why, f"{why}\n{lifted.source}"
