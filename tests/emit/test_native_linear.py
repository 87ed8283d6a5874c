"""Kernels that check places before a loop which are linear in its index: all bits, and errors, stay the loop's."""

import copy

import pytest
from tests.emit.test_native_jammed import KINDS, inputs, outcome

from looplift import lift

SIZES = ((9, 4), (3, 4), (1, 2), (0, 3), (2, 1), (40, 7), (5, 0))


def flat(x, w, out):
    m = len(w)
    n = len(out) // m if m else 0
    for i in range(n):
        for j in range(m):
            out[i * m + j] = x[i * m + j] + out[i * m + j] * 0.5


def in_strides(x, w, out):
    for i in range(1, len(w)):
        for j in range(i, len(x), i):
            out[j] += x[j] * w[i]


def mirrored(x, w, out):
    n = len(x)
    for i in range(2):
        for j in range(n):
            out[n - 1 - j] = x[j] + out[n - 1 - j]


def every_other(x, w, out):
    for i in range(len(x) // 2):
        out[2 * i + 1] = x[2 * i] - x[2 * i + 1]


def around_the_end(x, w, out):
    for i in range(len(x)):
        for j in range(len(w)):
            out[i - j] += w[j] * x[i]


def past_the_end(x, w, out):
    for i in range(2):
        for j in range(len(w)):
            out[j * 3 + i] += w[j]


def until_the_end(x, w, out):
    for i in range(1, 3):
        for j in range(len(w)):
            if j * i + 2 >= len(out):
                break
            out[j * i + 2] += w[j]


EVERY = (flat, in_strides, mirrored, every_other, around_the_end, past_the_end, until_the_end)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("loop", EVERY, ids=lambda one: one.__name__)
def test_all_bits_are_those_of_the_loop(loop, kind):
    lifted = lift(loop, backend="native", verify="off")
    for count, width in SIZES:
        arguments = inputs(count, width, kind)
        assert outcome(lifted, copy.deepcopy(arguments)) == outcome(loop, copy.deepcopy(arguments)), (count, width)


@pytest.mark.parametrize("loop", [in_strides, every_other], ids=lambda one: one.__name__)
def test_inner_loops_ask_nothing(loop, texts):
    lifted = lift(loop, backend="native", verify="off")
    lifted(*inputs(9, 4, KINDS[0]))
    (text,) = [one for one in texts if f"int {loop.__name__}_2_kernel(" in one]
    inner = text[text.rindex("for (int64_t") :].partition("}")[0]
    assert "outside(" not in inner and "overflow(" not in inner


def of_huge_numbers(x, first, step, out):
    for i in range(len(x)):
        if x[i] > 0:
            out[i] = first + i * step
    return out


def test_numbers_that_need_more_than_64_bits():
    x, _, _ = inputs(5, 1, KINDS[0])
    lifted = lift(of_huge_numbers, verify="off")
    for first, step in ((1, 2), (2**62, 2**61), (-(2**63), -1), (2**70, 1)):
        found = [function(x, first, step, [0] * 5) for function in (lifted, of_huge_numbers)]
        assert found[0] == found[1]
