"""Recurrences of second order and more, whose older values only move on from one variable to the next."""

import copy

import pytest
from tests.emit.test_native_jammed import KINDS, inputs, outcome

from looplift import lift


def second_order(x, w, out):
    last, before = 0.0, 0.0
    for t in range(len(x)):
        out[t] = x[t] + w[0] * last - w[1] * before
        before, last = last, out[t]
    return last, before


def third_order(x, w, out):
    a, b, c = 0.5, 0.25, 0.125
    for t in range(len(x)):
        a, b, c = a * w[0] + b * w[1] - c * w[2] + x[t], a, b
        out[t] = a
    return a, b, c


def exchanged(x, w, out):
    a, b = w[0], w[1]
    for t in range(len(x)):
        a, b = b, a
        out[t] = a - b * x[t]
    return a, b


def changed_on_the_way(x, w, out):
    last, before = 0.0, 0.0
    for t in range(len(x)):
        if x[t] > 0:
            last = last * 0.5
        before = last
        last = before * w[0] + x[t]
        out[t] = before


def left_early(x, w, out):
    last, before = 0.0, 1.0
    for t in range(len(x)):
        value = x[t] + w[0] * last - w[1] * before
        if value > 2.0:
            break
        before, last = last, value
        out[t] = value
    return last, before


def with_a_loop_inside(x, w, out):
    last, before = 0.0, 0.0
    for t in range(len(x)):
        total = last
        for k in range(len(w)):
            total = total * 0.5 + w[k]
        before, last = last, total + before * x[t]
        out[t] = last
    return before, last


MOVED = (second_order, third_order, exchanged, with_a_loop_inside)
OTHERS = (changed_on_the_way, left_early)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("loop", MOVED + OTHERS, ids=lambda one: one.__name__)
def test_all_bits_are_those_of_the_loop(loop, kind, texts):
    lifted = lift(loop, backend="native", verify="off")
    for count, width in ((9, 4), (1, 3), (0, 3), (300, 4)):
        arguments = inputs(count, width, kind)
        assert outcome(lifted, copy.deepcopy(arguments)) == outcome(loop, copy.deepcopy(arguments)), (count, width)
    if kind == ("numpy", "float64"):
        assert any(" = moved_on(" in text for text in texts) == (loop in MOVED)
