"""Strings that loops read letter by letter."""

from __future__ import annotations

import random

import numpy as np
import pytest

from looplift import lift


def edits(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        d[i, 0] = i
    for j in range(len(b) + 1):
        d[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def edits_in_rows(a, b):
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def counted(a, b):
    n, places = 0, np.zeros(len(a), dtype=np.int64)
    for i, letter in enumerate(a):
        places[i] = ord(letter) - ord("a")
        if letter == "c" or letter == "\N{GRINNING FACE}" or letter > b[-1]:
            n += i
    return n, places


def runs(a, b):
    found, length = [], 1
    for i in range(1, len(a)):
        before = a[i - 1]
        if a[i] == before:
            length += 1
        else:
            found.append(length)
            length = 1
    return found


def texts(seed, n):
    source = random.Random(seed)
    return tuple("".join(source.choice("acg\u00e9\N{GRINNING FACE}") for _ in range(n + k)) for k in (0, 2))


@pytest.mark.parametrize("loop", [edits, edits_in_rows, counted, runs])
def test_letters_are_compared(loop):
    lifted = lift(loop, backend="native", verify="off")
    for n in (6, 9, 2, 1, 0):
        wanted, found = loop(*texts(n, n)), lifted(*texts(n, n))
        np.testing.assert_equal(found, wanted)
        assert type(found) is type(wanted)
    assert {one.decision for one in lifted.report().loops} == {"native"}


def test_a_place_past_the_end_raises_as_in_the_loop():
    def past(a, b):
        n = 0
        for i in range(len(b)):
            if a[i] == b[i]:
                n += 1
        return n

    for _ in range(2):
        with pytest.raises(IndexError, match="string index out of range"):
            lift(past)("ab", "abc")


def joined(a, b):
    text = ""
    for letter in a:
        text += letter
    return text


def last(a, b):
    n, letter = 0, "x"
    for letter in a:
        if letter == b[0]:
            n += 1
    return n, letter


def with_anything(a, b):
    n = 0
    for i in range(len(a)):
        if a[i] == b:
            n += 1
    return n


def pairs(a, b):
    n = 0
    for i in range(len(a) - 1):
        if a[i : i + 2] == b[0:2]:
            n += 1
    return n


@pytest.mark.parametrize("loop", [joined, last, with_anything, pairs])
def test_what_is_done_with_letters_otherwise(loop):
    lifted = lift(loop)
    for seed in (5, 3):
        assert lifted(*texts(seed, seed)) == loop(*texts(seed, seed))


def test_a_list_where_a_string_was():
    lifted = lift(edits)
    for a, b in (("acca", "acc"), (list("acca"), list("cac")), ([97, 99], "ac"), ("ac", [97, 99])):
        assert np.array_equal(lifted(a, b), edits(a, b))
