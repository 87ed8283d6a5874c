"""Numbers read from text, and lists of numbers stored as rows of arrays, in typed programs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from looplift import lift


def summed(tokens, xs):
    out = []
    for x in xs:
        total = 0.0
        for token in tokens:
            if token.startswith("x"):
                total += x[int(token[1:])]
            else:
                total += float(token)
        out.append(total)
    return out


def table(lines):
    rows = {}
    for k, line in enumerate(lines):
        values = []
        for token in line.split(","):
            values.append(float(token))
        rows[str(k)] = values
    return rows


NUMBERS = (
    ["1,2.5, 3 ", "1e300,.5,5.", "-0,+7,1e999,1E-400", "0.1,123456789012345678901234567890"],
    ["1,2.5", "inf,1"], ["1,2_0.5"], ["1,,2"], ["1,2e"], ["1,0x10"], ["1, 5e 3"], ["1,--2"], ["1,."], ["1,nan"], [],
    ["1," + "3" * 80], ["1,٣"],
)  # fmt: skip


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except ValueError as error:
        return type(error), str(error)


@pytest.mark.parametrize("lines", NUMBERS, ids=str)
def test_floats_are_read_as_python_reads_them(lines):
    lifted = lift(table, backend="native", verify="off")
    for _ in range(2):
        assert repr(outcome(lifted, lines)) == repr(outcome(table, lines))


def test_text_and_numbers():
    lifted = lift(summed, backend="native", verify="off")
    for _ in range(2):
        for tokens in (["x1", "2.5", "-1e-3", "x0"], ["x1", "2.5e"], ["x1", "x"], ["x 1"]):
            arguments = tokens, [[1.0, 2.0], [3.5, 4.25]]
            assert outcome(lifted, *arguments) == outcome(summed, *arguments)
    assert lifted.report().loops


def test_programs_read_numbers():
    for function, arguments in ((table, (NUMBERS[0],)), (summed, (["x1", "2.5"], [[1.0, 2.0]]))):
        lifted = lift(function, backend="native", verify="off")
        lifted(*arguments)
        lifted(*arguments)
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


def histograms(image):
    n = len(image) // 4
    cells = np.zeros((n, n, 9))
    for a in range(n):
        for b in range(n):
            counts = [0.0] * 9
            for y in range(4):
                for x in range(4):
                    value = image[4 * a + y, 4 * b + x]
                    counts[math.floor(value * 9) % 9] += value
            cells[a, b] = counts
    return cells


def rows(a):
    out, seen = np.zeros((len(a), 3), dtype=a.dtype), {}
    for i in range(len(a)):
        row = [i, 2, 3]
        seen[str(i)] = i
        out[i] = row
        out[i, 1:] = [0.5, float(a[i, 0])]
    return out, seen


def too_short(a):
    out, seen = np.zeros((len(a), 4)), {}
    for i in range(len(a)):
        seen[str(i)] = i
        out[i] = [1.0, 2.0, 3.0]
    return out, seen


@pytest.mark.parametrize("backend", ("auto", "native"))
@pytest.mark.parametrize("function", (histograms, rows, too_short), ids=lambda function: function.__name__)
def test_rows_of_arrays_take_lists(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    generator = np.random.default_rng(0)
    for given in (generator.random((8, 8)), generator.integers(0, 9, (5, 2)), generator.random((8, 8))):
        if function is not histograms or given.shape == (8, 8):
            found, expected = outcome(lifted, given), outcome(function, given)
            assert str(found) == str(expected)
    if function is not too_short:
        assert {loop.decision for loop in lifted.report().loops} == {"native"}
