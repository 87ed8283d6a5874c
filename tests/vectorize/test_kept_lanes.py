"""Lanes that are done keep what they had: values under conditions inside of loops that lanes leave."""

from __future__ import annotations

import torch
from tests.vectorize.harness import check

from looplift import lift


def bracketed(targets, limit):
    roots, counts, raised = [], [], []
    for i in range(targets.shape[0]):
        low, high, n, over = 0.0, 4.0, 0, False
        while n < limit:
            middle = 0.5 * (low + high)
            value = middle * middle - targets[i].item()
            if abs(value) < 1e-3:
                break
            if value > 0:
                high = middle
                over = over or middle > 3
            else:
                low = middle
            n += 1
        roots.append(0.5 * (low + high))
        counts.append(n)
        raised.append(over)
    return roots, counts, raised


def stepped(x, limit):
    """Tensors of several dimensions, conditions that some lanes never meet, flags of which two may be set at once."""
    out, marks = [], []
    for i in range(x.shape[0]):
        v, best, grew, shrank = x[i], x[i], False, False
        for t in range(limit):
            if v.sum() > 8:
                grew = True
                break
            if v.min() < 0:
                shrank = grew or shrank or t > 2
                v = v + 1
            else:
                best = v
                v = v * 1.5
        out.append(v + best)
        marks.append((grew, shrank))
    return torch.stack(out), marks


def test_numbers_and_flags_of_lanes_that_are_done():
    targets = torch.tensor([0.1, 2.0, 9.5, 15.9, 4.0, 1.0, 100.0], dtype=torch.float64)
    for limit in (0, 1, 7, 40):
        check(bracketed, [targets, limit], gradients=False, decisions={"lanes", "sequential"})


def test_tensors_of_lanes_that_are_done():
    x = torch.randn(9, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    for limit in (1, 2, 12):
        check(stepped, [x, limit], gradients=False, decisions={"lanes", "sequential"})


def solved(quotes, limit):
    """Fields of records that a loop reads in each step, of which lanes leave."""
    found, counts = [], []
    for quote in quotes:
        x, n = quote["start"], 0
        while n < limit:
            step = (x * x - quote["value"]) / (2 * x)
            if abs(step) < 1e-8:
                break
            x = x - step
            n += 1
        found.append(x)
        counts.append(n)
    return torch.stack(found), counts


def test_fields_of_records_are_read_before_the_loop():
    quotes = [{"start": torch.tensor(1.0 + k), "value": torch.tensor(2.0 * k + 1)} for k in range(5)]
    for limit in (1, 9):
        check(solved, [quotes, limit], gradients=False, decisions={"lanes", "sequential"})


def test_numbers_that_lanes_of_a_loop_take_are_made_once():
    def roots(x, n):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            r, k = 1.0, 0
            while k < n and abs(r * r - x[i].item()) > 1e-9:
                if r > 0.1:
                    r = r - (r * r - x[i].item()) / (2 * r)
                else:
                    r = 0.5
                k += 1
            out[i] = r
        return out

    for dtype in (torch.float32, torch.float64):
        calls = [[torch.linspace(-3, 9, size, dtype=dtype), n] for size in (1, 2, 5) for n in (0, 1, 2, 9)]
        check(roots, *calls, gradients=False, decisions={"lanes", "sequential"})
    lifted = lift(roots, backend="torch", verify="off")
    lifted(*calls[-1])
    (before, inside) = lifted.source.split("while True:")
    assert "torch.tensor(0.5, dtype=torch.float64)" in before and ", 0.5" not in inside
