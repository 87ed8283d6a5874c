"""Kernels that run several iterations of a loop at once: which loops do, and that all bits stay the loop's."""

import copy
import warnings

import numpy as np
import pytest
import torch

from looplift import lift

AT_ONCE = "several iterations at once"
SIZES = ((3, 4), (8, 3), (19, 5), (0, 4), (7, 0), (16, 1), (33, 9))


# ---------------------------------------------------------------- loops that do


def filtered(x, w, out):
    for i in range(len(x) - len(w) + 1):
        total = 0.0
        for k in range(len(w)):
            total += w[k] * x[i + k]
        out[i] = total


def best_of_all(x, w, out):
    for s in range(len(out)):
        best, at = -1e30, 0
        for r in range(len(w)):
            value = w[r] + x[s] * r
            if value > best:
                best, at = value, r
        out[s] = best + at


def with_states(x, w, out):
    old = x * 1.0
    for t in range(len(w)):
        new = np.zeros(len(x)) if isinstance(x, np.ndarray) else torch.zeros(len(x), dtype=x.dtype)
        for s in range(len(x)):
            total = 0.0
            for r in range(len(x)):
                total += old[r] * x[s] + r * 0.25
            new[s] = total * w[t]
        old = new
    for s in range(len(x)):
        out[s] = old[s]


def that_skip(x, w, out):
    for i in range(len(x)):
        total = 1.0
        for k in range(len(w)):
            if x[i] < w[k]:
                continue
            total = total * 0.5 + w[k]
        out[i] += total


def of_which_none_skips(x, w, out):
    for i in range(len(x)):
        low, high = 0.0, 1.0
        for k in range(len(w)):
            if w[k] > 0.0:
                low += w[k] * x[i]
                for m in range(3, 9):
                    high = high + x[i] * m
            else:
                high = high * 0.5
        out[i] = high - low


def around_others(x, w, out):
    for i in range(len(x)):
        for k in range(len(w)):
            if i != k:
                out[i] += (x[i] - w[k]) * (x[i] + w[k])


def with_narrow_reads(x, w, out):
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            if x[i] > 0.0:
                total += w[k + 1] if k + 1 < len(w) else w[0]
        out[i] = total


def of_rows(x, w, out):
    for i in range(2):
        for j in range(len(x)):
            total = out[j] * 0.25
            for u in range(3, 6):
                for v in range(len(w)):
                    total = max(total * 0.5, x[j] * w[v] + u + i)
            out[j] = total


JAMMED = (filtered, best_of_all, with_states, that_skip, of_which_none_skips, around_others, with_narrow_reads, of_rows)


# ---------------------------------------------------------------- loops that do not


def triangular(x, w, out):
    for i in range(len(x)):
        total = 0.0
        for k in range(i):
            total += x[k] * 0.5
        out[i] = total


def left_early(x, w, out):
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            total += w[k]
            if total > x[i]:
                break
        out[i] = total


def of_neighbours(x, w, out):
    for i in range(1, len(x)):
        total = 0.0
        for k in range(len(w)):
            total += w[k] * out[i - 1]
        out[i] = total


def swapped(x, w, out):
    old, new = x * 1.0, x * 2.0
    for t in range(4):
        for s in range(len(x)):
            total = 0.0
            for r in range(len(x)):
                total = total * 0.5 + old[r]
            new[s] = total
        old = new
    for s in range(len(x)):
        out[s] = old[s]


def of_quotients(x, w, out):
    for i in range(len(x)):
        total = 0.0
        for k in range(len(w)):
            total += (x[i] * w[k]) // 0.5
        out[i] = total


OTHERS = (triangular, left_early, of_neighbours, swapped, of_quotients)


def inputs(count, width, kind, seed=1):
    numbers = np.random.default_rng(seed).normal(size=(2, max(count, 1) + width)).astype(kind[1])
    found = [numbers[0, :count].copy(), numbers[1, :width].copy(), np.zeros(count, dtype=kind[1])]
    return [torch.from_numpy(one) for one in found] if kind[0] == "torch" else found


def outcome(function, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = function(*arguments)
        except Exception as error:
            return type(error), str(error)
    handed = () if result is None else result if isinstance(result, tuple) else (result,)
    return [np.asarray(one).tobytes() for one in (*arguments, *handed)]


KINDS = [("numpy", "float64"), ("numpy", "float32"), ("torch", "float32"), ("torch", "float64")]


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("loop", JAMMED + OTHERS, ids=lambda one: one.__name__)
def test_all_bits_are_those_of_the_loop(loop, kind, texts):
    lifted = lift(loop, backend="native", verify="off")
    for count, width in ((9, 4), *SIZES):
        arguments = inputs(count, width, kind)
        assert outcome(lifted, copy.deepcopy(arguments)) == outcome(loop, copy.deepcopy(arguments)), (count, width)
    if kind[1] == "float64":
        assert any(AT_ONCE in text for text in texts) == (loop in JAMMED)


@pytest.mark.parametrize("loop", JAMMED, ids=lambda one: one.__name__)
def test_places_that_are_not_there(loop):
    lifted = lift(loop, backend="native", verify="off")
    for cut in (0, 1, 9):
        x, w, out = inputs(20, 5, KINDS[0])
        given = [x, w[: 5 - cut] if cut < 9 else w, out[: 20 - cut]]
        assert outcome(lifted, copy.deepcopy(given)) == outcome(loop, copy.deepcopy(given)), cut


@pytest.mark.parametrize("loop", JAMMED, ids=lambda one: one.__name__)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_that_share_memory(loop, library):
    lifted = lift(loop, backend="native", verify="off")
    for start, end in ((0, 20), (1, 21), (5, 25)):
        found = []
        for function in (lifted, loop):
            whole, w, _ = inputs(30, 5, (library, "float64"))
            outcome(function, [whole[:20], w, whole[start:end]])
            found.append(np.asarray(whole).tobytes())
        assert found[0] == found[1], (start, end)


@pytest.mark.parametrize("loop", JAMMED, ids=lambda one: one.__name__)
def test_warnings_and_what_is_not_a_number(loop):
    lifted = lift(loop, backend="native", verify="off")
    for value in (np.nan, np.inf, -np.inf, 1e308):
        for place in (0, 1):
            arguments = inputs(20, 5, KINDS[0])
            arguments[place][3] = value
            assert outcome(lifted, copy.deepcopy(arguments)) == outcome(loop, copy.deepcopy(arguments)), (value, place)


@pytest.mark.parametrize("loop", JAMMED, ids=lambda one: one.__name__)
def test_strided_and_turned(loop):
    lifted = lift(loop, backend="native", verify="off")
    for step in (2, -1, -3):
        found = []
        for function in (lifted, loop):
            x, w, out = inputs(60, 15, KINDS[0])
            found.append(outcome(function, [x[::step], w[::step], out[::step]]))
        assert found[0] == found[1]
