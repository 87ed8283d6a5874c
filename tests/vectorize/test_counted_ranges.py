"""A ``while`` whose counter goes on by the same in each iteration is a loop over a range."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector

from looplift import lift
from looplift.base.compare import difference


def frames(x, size, hop):
    found, start = [], 0
    while start + size <= len(x):
        found.append(torch.fft.rfft(x[start : start + size]).abs())
        start += hop
    return torch.stack(found), start


def frames_by_sixteen(x):
    found, start = [], 0
    while start + 32 <= x.shape[0]:
        energies = torch.zeros(3)
        for m in range(3):
            energies[m] = torch.log(1 + x[start + m : start + m + 8].abs()).sum()
        found.append(energies)
        start += 16
    return torch.stack(found), start


def counted_in_front(x):
    found, k = [], -1
    while k + 1 < len(x):
        k = 1 + k
        found.append(torch.sort(x[k]).values)
    return torch.stack(found), k


def downwards(x):
    found, k = [], x.shape[0] - 1
    while 0 <= k:
        found.append(torch.sort(x[k]).values * k)
        k -= 2
    return torch.stack(found), k


def counted_twice(x):
    found, k = [], 0
    while k < x.shape[0]:
        ordered = torch.sort(x[k]).values
        k += 1
        found.append(ordered + x[k - 1] * 2)
        k += 1
    return torch.stack(found), k


def in_turn(x):
    found, low, high, last = [], 0, x.shape[0] - 2, -5
    while low < high:
        found.append(torch.cumsum(x[low] * x[high], 0))
        last = low
        low += 1
    return torch.stack(found), low, last


def windows_of_each(x, size, hop):
    out = []
    for i in range(x.shape[0]):
        found, start = [], 0
        while start + size <= x.shape[1]:
            found.append(torch.sort(x[i, start : start + size]).values)
            start += hop
        out.append(torch.stack(found))
    return torch.stack(out)


LANES = [
    (frames, [vector(40), 8, 4], [vector(41), 7, 5]),
    (frames_by_sixteen, [vector(80)], [vector(90)]),
    (counted_in_front, [matrix(5, 4)]),
    (downwards, [matrix(5, 4)], [matrix(6, 4)]),
    (counted_twice, [matrix(6, 4)]),
    (in_turn, [matrix(6, 4)]),
    (windows_of_each, [matrix(6, 14), 4, 3]),
]


@pytest.mark.parametrize(("function", "first", "others"), [(f, first, others) for f, first, *others in LANES])
def test_counted(function, first, others):
    check(function, first, *others)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_no_iteration(backend):
    def tripled(x, start, hop):
        out = torch.zeros(9)
        while start < len(x):
            out[start] = torch.special.i0(x[start]) * 3
            start += hop
        return out, start

    lifted = lift(tripled, backend=backend, verify="off")
    for start, hop in ((0, 1), (0, 2), (7, 3), (11, 1), (9, -1)):
        wanted = tripled(vector(9), start, hop)
        for _ in range(2):
            assert not difference(lifted(vector(9), start, hop), wanted, magnitude=1.0, path="call")


def queue_that_grows(x):
    queue, k, total = [x[0]], 0, []
    while k < len(queue):
        total.append(torch.sort(queue[k]).values)
        if k + 1 < len(x):
            queue.append(x[k + 1])
        k += 1
    return torch.stack(total), k


def list_of_the_caller_that_grows(x, given):
    k, total = 0, []
    while k < len(given):
        total.append(torch.sort(x[k]).values)
        if k < 3:
            given.append(k)
        k += 1
    return torch.stack(total), len(given)


def skipped(x):
    k, found = 0, []
    while k < len(x):
        if x[k, 0] > 0:
            k += 2
            continue
        found.append(torch.sort(x[k]).values)
        k += 1
    return torch.stack(found), k


def left(x):
    k, found = 0, []
    while k < len(x):
        found.append(torch.sort(x[k]).values)
        if found[-1][0] < -1:
            break
        k += 2
    return torch.stack(found), k


def moving_end(x):
    low, high, found = 0, len(x), []
    while low < high:
        found.append(torch.sort(x[low]).values)
        low += 1
        high -= 1
    return torch.stack(found), low, high


def of_floats(x):
    at, found = 0.0, []
    while at < 0.7:
        found.append(torch.sort(x[0] * at).values)
        at += 0.1
    return torch.stack(found), at


def end_in_a_tensor(x):
    k, end, found = 0, torch.tensor([5]), []
    while k < end[0]:
        found.append(torch.sort(x[k]).values)
        if k == 1:
            end[0] = 3
        k += 1
    return torch.stack(found), k


def test_what_is_no_range():
    functions = queue_that_grows, skipped, left, moving_end, of_floats, end_in_a_tensor, list_of_the_caller_that_grows
    for function in functions:
        given = ([7],) if function is list_of_the_caller_that_grows else ()
        for backend in ("auto", "torch", "native"):
            lifted = lift(function, backend=backend, verify="off")
            for x in (matrix(6, 4), matrix(7, 4)):
                copies = [[*one] for one in given], [[*one] for one in given]
                wanted = function(x, *copies[0])
                assert not difference(lifted(x, *copies[1]), wanted, magnitude=1.0, path=function.__name__)
                assert copies[0] == copies[1]


def test_frames_of_arrays_are_lanes():
    def spectra(signal):
        found, start = [], 0
        while start + 32 <= len(signal):
            found.append(np.abs(np.fft.rfft(signal[start : start + 32])))
            start += 16
        return np.array(found)

    lifted = lift(spectra)
    signal = np.random.default_rng(0).normal(size=600)
    for _ in range(3):
        assert not difference(lifted(signal), spectra(signal), magnitude=1.0, path="call")
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_an_array_that_each_step_appends_is_no_alias():
    def collected(x, bound):
        found, start = [], 0
        while bound[start] > 0:
            row = torch.zeros(3, dtype=x.dtype)
            for m in range(3):
                row[m] = torch.special.i0(x[start + m]).sum()
            found.append(row)
            start += 1
        return torch.stack(found)

    x, bound = matrix(9, 4), torch.tensor([1, 1, 1, 0])
    lifted = lift(collected, backend="torch", verify="off")
    assert not difference(lifted(x, bound), collected(x, bound), magnitude=1.0, path="call")
    assert "aliasing" not in str(lifted.report())
