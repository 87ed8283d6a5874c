"""Copies of NumPy's arrays that lanes write to."""

import copy

import numpy as np
import pytest

import looplift


def halves(M):
    out = []
    for b in range(len(M)):
        a = M[b, 0].copy()
        v = a[1:]
        a[0] = a[0] * 2
        a[1:] += v.sum()
        out.append(a)
    return np.array(out), M


def added_to_itself(M):
    for b in range(len(M)):
        a = M[b].copy()
        a *= 2
        M[b] = a + M[b]
    return M


def diagonal_before(M):
    out = []
    for b in range(len(M)):
        a = np.copy(M[b])
        d = np.diag(a)
        a[0, 0] = 7
        out.append(d.sum())
    return out


def diagonal_kept(M):
    out = []
    for b in range(len(M)):
        a = M[b].copy()
        d = np.diag(a).copy()
        a[0, 0] = 7
        out.append(d)
    return np.stack(out)


def turned(M):
    keep = []
    for b in range(len(M)):
        a = M[b].copy()
        t = a.T
        a[0, 1] = 9
        keep.append(t)
    return keep


def kept_before(M):
    keep = []
    for b in range(len(M)):
        a = M[b].copy()
        keep.append(a)
        a[0, 1] = 9
    return keep


def rows_before(M):
    a = M.copy()
    s = 0.0
    for b in range(len(M)):
        r = a[b]
        a[b] = r * 2
        s += r.sum()
    return s, a


def of_lists(L):
    out = []
    for b in range(len(L)):
        a = L[b].copy()
        a[0] = a[0] * 2
        out.append(a)
    return out, L


def copies_at_times(M):
    s = 0.0
    for b in range(len(M)):
        a = M[b].copy() if b % 2 else M[b]
        a[0, 0] = a[0, 0] + 1
        s += a.sum()
    return s, M


def cast(M):
    out = np.zeros(len(M))
    for b in range(len(M)):
        a = M[b].copy().astype(float)
        a[:, 0] = 0
        out[b] = a.sum() + np.trace(a)
    return out


def made_anew(M):
    out = np.zeros(len(M))
    for b in range(len(M)):
        a = np.array(M[b])
        a[:, 0] = 0
        out[b] = a.sum()
    return out, M


def of_rows(M):
    out = np.zeros(len(M))
    for b in range(len(M)):
        a = np.array([M[b, 0], M[b, 1]])
        a[:, 0] = 0
        out[b] = a.sum()
    return out, M


def cast_in_place(M):
    out = np.zeros(len(M))
    for b in range(len(M)):
        a = M[b].astype(float, copy=False)
        a[:, 0] = 0
        out[b] = a.sum()
    return out, M


LANES = [added_to_itself, diagonal_kept, cast, made_anew, of_rows]
OTHERS = [halves, diagonal_before, turned, kept_before, rows_before, of_lists, copies_at_times, cast_in_place]


def same(one, other):
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", LANES + OTHERS)
def test_what_is_written_to_is_a_copy(function, backend):
    M = np.random.default_rng(0).integers(-9, 9, (6, 4, 4)).astype(float)
    given = M[:, 0].tolist() if function is of_lists else M
    lifted = looplift.lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert same(lifted(copy.deepcopy(given)), function(copy.deepcopy(given)))
    if backend == "torch" and function in LANES:
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"]
