"""Kernels that hold what a loop stored in the iterations before: which do, and that all bits stay the loop's."""

import copy

import pytest
from tests.emit.test_native_jammed import KINDS, inputs, outcome

from looplift import lift

SIZES = ((9, 4), (3, 4), (1, 2), (0, 3), (2, 1), (40, 7))


def of_one_before(x, w, out):
    out[0] = x[0]
    for t in range(1, len(x)):
        out[t] = out[t - 1] * 0.5 + x[t]


def of_three_before(x, w, out):
    for t in range(3, len(x)):
        out[t] = x[t] + 0.5 * out[t - 1] - 0.25 * out[t - 3]


def from_the_end(x, w, out):
    for t in range(len(x) - 2, -1, -1):
        out[t] = x[t] + 0.9 * out[t + 1]


def under_a_branch(x, w, out):
    for t in range(2, len(x)):
        value = x[t]
        if x[t] > 0:
            value = out[t - 1] if out[t - 2] > x[t - 1] else out[t - 2]
        out[t] = value


def of_all_rows(x, w, out):
    for k in range(len(w)):
        for t in range(1, len(x)):
            out[t] = max(out[t - 1] * w[k], x[t]) - out[t]


def left_early(x, w, out):
    for t in range(1, len(x)):
        if x[t] > 1.5:
            break
        out[t] = out[t - 1] + x[t]


def read_again(x, w, out):
    total = 0.0
    for t in range(1, len(x)):
        out[t] = out[t - 1] * 0.5 + x[t]
        total += out[t - 1] * x[t]
    return total


def read_farther_again(x, w, out):
    total = 0.0
    for t in range(len(x) - 4, -1, -1):
        out[t] = x[t] - 0.5 * out[t + 1] * out[t + 2]
        if out[t + 3] > out[t + 1]:
            total += out[t + 2]
    return total


def read_again_in_rows(x, w, out):
    total = 0.0
    for k in range(len(w)):
        for t in range(1, len(x)):
            out[t] = out[t - 1] * w[k] + x[t]
        for t in range(2, len(x)):
            out[t] = x[t] / (out[t - 1] + 3)
            total += out[t - 1] * 0.1 - out[t - 2]
    return total


HELD = (
    of_one_before, of_three_before, from_the_end, under_a_branch, of_all_rows, read_again, read_farther_again,
    read_again_in_rows,
)  # fmt: skip


def stored_twice(x, w, out):
    for t in range(1, len(x)):
        out[t] = out[t - 1] + x[t]
        if x[t] > 0:
            out[t - 1] = 0.0


def not_in_all(x, w, out):
    for t in range(1, len(x)):
        if x[t] > 0:
            out[t] = out[t - 1] + x[t]


def skipped(x, w, out):
    for t in range(1, len(x)):
        if x[t] > 0:
            continue
        out[t] = out[t - 1] + x[t]


def beside_another(x, w, out):
    for t in range(1, len(x)):
        out[t] = out[t - 1] + x[t]
        x[t] = out[t] * 0.5


OTHERS = (left_early, stored_twice, not_in_all, skipped, beside_another)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("loop", HELD + OTHERS, ids=lambda one: one.__name__)
def test_all_bits_are_those_of_the_loop(loop, kind, texts):
    lifted = lift(loop, backend="native", verify="off")
    for count, width in SIZES:
        arguments = inputs(count, width, kind)
        assert outcome(lifted, copy.deepcopy(arguments)) == outcome(loop, copy.deepcopy(arguments)), (count, width)
    if kind[1] == "float64":
        assert any("out_last" in text for text in texts) == (loop in HELD)


@pytest.mark.parametrize("loop", HELD + OTHERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_that_share_memory_or_are_too_short(loop, library):
    lifted = lift(loop, backend="native", verify="off")
    for start, end in ((0, 20), (1, 21), (3, 23), (2, 10), (0, 0)):
        found = []
        for function in (lifted, loop):
            whole, w, _ = inputs(30, 5, (library, "float64"))
            result = outcome(function, [whole[2:22], w, whole[start:end]])
            found.append((result, whole.tolist()))
        assert found[0] == found[1], (start, end)


def of_a_name_that_ends_alike(out, about, about_last):
    for t in range(1, len(out)):
        out[t] = out[t - 1] * 0.5 + about[t - 1] * about_last


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_an_array_whose_name_ends_like_that_of_the_held_one(kind, texts):
    lifted = lift(of_a_name_that_ends_alike, backend="native", verify="off")
    for count in (9, 2, 0):
        out, about, _ = inputs(count, count, kind)
        found = [outcome(f, [copy.deepcopy(out), about, 0.75]) for f in (lifted, of_a_name_that_ends_alike)]
        assert found[0] == found[1], count
    if kind[1] == "float64":
        assert any("out_last" in text.replace("about_last", "") for text in texts)
