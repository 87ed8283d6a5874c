"""Slices of lists that programs store into, with as many items as before, fewer or more."""

import pytest

from looplift import lift


def turned(items, steps):
    tour, k = list(items), 0
    while k < steps:
        i, j = k % len(tour), (k * 3) % len(tour)
        tour[i : j + 1] = tour[i : j + 1][::-1]
        k += 1
    return tour


def of_other_lengths(items, steps):
    out, k = list(items), 0
    while k < steps:
        lo, hi = (k * 5) % 9 - 4, (k * 7) % 11 - 5
        out[lo:hi] = [k] * (k % 4)
        k += 1 if len(out) < 40 else 2
    return out


def open_ends(items, steps):
    out, k = list(items), 0
    while k < steps:
        out[k:] = [k, k + 1] + out[:2]
        out[: k // 2] = out
        k += 1 if len(out) < 60 else 3
    return out


def of_the_caller(items, steps):
    k = 0
    while k < steps:
        items[k % 3 : k % 5] = items[1:3]
        k += 1 if len(items) < 50 else 2
    return len(items)


def texts(items, steps):
    words, k = [f"w{i}" for i in items], 0
    while k < steps:
        words[k : k + 2] = ["".join(words[k : k + 3])]
        k += 1
    return words


@pytest.mark.parametrize("function", [turned, of_other_lengths, open_ends, of_the_caller, texts])
def test_slices(function):
    lifted = lift(function, verify="off")
    for n, steps in ((7, 5), (1, 3), (12, 0), (9, 9)):
        ours, theirs = list(range(n)), list(range(n))
        assert lifted(ours, steps) == function(theirs, steps)
        assert ours == theirs
    assert "native" in {loop.decision for loop in lifted.report().loops}


def in_steps(items, steps):
    out, k = list(items), 0
    while k < steps:
        out[k::2] = out[k::2][::-1]
        k += 1 if out[0] < 5 else 2
    return out


def test_slices_with_steps_run_as_the_loop():
    lifted = lift(in_steps, verify="off")
    for _ in range(3):
        assert lifted(list(range(8)), 5) == in_steps(list(range(8)), 5)
