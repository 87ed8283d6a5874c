"""Entries of slices in NumPy arrays: their places, and values of their lanes, are repeated, not selected."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def sums(a, starts, lengths):
    out = np.zeros(len(starts))
    for i in range(len(starts)):
        out[i] = a[starts[i] : starts[i] + lengths[i]].sum()
    return out


def shifted(a, starts, lengths):
    for i in range(len(starts)):
        part = a[starts[i] : starts[i] + lengths[i]]
        a[starts[i] : starts[i] + lengths[i]] = part - i * 2.0 + starts[i]
    return a


def rows(a, starts, lengths):
    m = np.stack([a, a * 2, a - 1], 1)
    out = np.zeros((len(starts), 3))
    for i in range(len(starts)):
        out[i] = (m[starts[i] : starts[i] + lengths[i]] * m[i]).sum(axis=0)
    return out


def counts(a, starts, lengths):
    out = np.zeros(len(starts), dtype=np.int64)
    for i in range(len(starts)):
        out[i] = (a[starts[i] : starts[i] + lengths[i]] > 0.5).sum()
    return out


STARTS, LENGTHS = [0, 3, 10, 20], [3, 5, 1, 7]
SEGMENTS = [
    (STARTS, LENGTHS), (STARTS[::-1], LENGTHS), (STARTS, [0, 5, 0, 3]), (STARTS, [0, 0, 0, 0]), ([0, 2, 4, 2], [2] * 4),
    ([-5, 3, 10, 38], [3, 2, 2, 9]), ([20, 0, 3, 10], [7, 3, 5, 1]), ([0, 5, 5, 9], [3, 0, 4, 1]),
]  # fmt: skip


@pytest.mark.parametrize("function", [sums, shifted, rows, counts])
def test_segments_in_any_order_and_of_any_length(function):
    lifted = lift(function, verify="off", backend="torch")
    for starts, lengths in SEGMENTS:
        values = (np.random.default_rng(0).random(40), np.array(starts), np.array(lengths))
        given, wanted = copy.deepcopy(values), copy.deepcopy(values)
        results = lifted(*given), function(*wanted)
        assert not difference((results[0], given), (results[1], wanted), magnitude=1.0, path="call")
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert "np.repeat(" in lifted.source


def first_places(tokens, wanted):
    found = torch.full((wanted.shape[0],), -1)
    for i in range(wanted.shape[0]):
        places = torch.where(tokens == wanted[i])[0]
        if len(places) > 0:
            found[i] = 10 + places[0]
    return found


def first_places_of_arrays(tokens, wanted):
    found = np.full(len(wanted), -1)
    for i in range(len(wanted)):
        places = np.where(tokens == wanted[i])[0]
        if places.size:
            found[i] = places[0]
    return found


def test_the_first_of_the_places_that_hold():
    tokens = torch.tensor([3, 1, 4, 1, 5])
    for wanted in ([1, 7, 5], [9, 9], [3]):
        for length in (5, 1, 0):
            given = tokens[:length], torch.tensor(wanted)
            torch.testing.assert_close(lift(first_places, verify="off")(*given), first_places(*given))
            arrays = [one.numpy() for one in given]
            made = lift(first_places_of_arrays, verify="off", backend="torch")(*arrays)
            np.testing.assert_array_equal(made, first_places_of_arrays(*arrays))


def test_the_first_place_needs_no_list_of_all():
    lifted = lift(first_places, verify="off", backend="torch")
    lifted(tokens := torch.tensor([3, 1, 4, 1, 5]), tokens[:3])
    assert "nonzero" not in lifted.source
