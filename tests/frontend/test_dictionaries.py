"""Dicts that a loop reads under keys of the data. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check, outcome

from looplift import lift
from looplift.base.compare import difference

L = torch.tensor([0, 1, 2, 5, 9, 3, 0])
A = L.numpy()
D = {0: 7, 1: 3, 2: 11, 5: 1, 9: 2, 3: 8}
DF = {0: 0.5, 1: 1.5, 2: float("nan"), 5: -0.0, 9: float("inf"), 3: 2.0}
IMG = np.array([[[0, 0, 0], [255, 0, 0]], [[0, 255, 0], [1, 2, 3]]], dtype=np.uint8)
PAL = {(0, 0, 0): 0, (255, 0, 0): 1, (0, 255, 0): 2, (0, 0, 255): 3}
CL = {0: [255, 0, 0], 1: [0, 255, 0], 2: [1, 2, 3], 5: [7, 7, 7], 9: [8, 8, 8], 3: [0, 0, 1]}


def t1(a, d):
    out = []
    for k in a:
        out.append(d[k])
    return out


def missing(a, d):
    out = np.zeros(len(a))
    for i, k in enumerate(a):
        out[i] = d[k]
    return out


def floatkeys(a, d):
    out = np.zeros(len(a))
    for i, k in enumerate(a):
        out[i] = d.get(k, -1)
    return out


def tensorkeys(a, d):
    out = torch.zeros(len(a))
    for i, k in enumerate(a):
        out[i] = d.get(k, -1)
    return out


def itemkeys(a, d):
    out = torch.zeros(len(a))
    for i, k in enumerate(a):
        out[i] = d.get(k.item(), 0.5)
    return out


def floatvals(a, d):
    return [d[int(k)] * 2 for k in a]


def mixedvals(a, d):
    return [d.get(int(k), 0) for k in a]


def negkeys(a, d):
    return [d.get(int(k), 0) for k in a]


def nonevals(a, d):
    return [d.get(int(k)) for k in a]


def getnone(a, d):
    return [d.get(int(k)) for k in a]


def found(a, d):
    n = 0
    for k in a:
        if k in d:
            n += 1
        if int(k) not in d:
            n += 10
    return n


def tuplevals(a, d):
    s = 0.0
    for k in a:
        p, q = d[k]
        s += p * q
    return s


def raggedtuples(a, d):
    return [sum(d.get(int(k), (0,))) for k in a]


def listvals(a, d):
    out = np.zeros((len(a), 2))
    for i, k in enumerate(a):
        out[i] = d[k]
    return out


def tensorvals(a, d):
    return torch.stack([d[int(k)] * 2 for k in a])


def tensorvals_grad(a, d):
    return torch.stack([d[int(k)] * 2 for k in a])


def arrayvals(a, d):
    return np.stack([d[int(k)] * 2 for k in a])


def arrayvals_alias(a, d):
    return [d[int(k)] for k in a]


def rgb_get(img, pal):
    out = np.zeros(img.shape[:2], dtype=int)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal.get(tuple(img[i, j]), -1)
    return out


def rgb_missing(img, pal):
    out = np.zeros(img.shape[:2], dtype=int)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal[tuple(img[i, j])]
    return out


def rgb_parts(img, pal):
    out = np.zeros(img.shape[:2], dtype=int)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            r, g, b = img[i, j]
            if (r, g, b) in pal:
                out[i, j] = pal[(r, g, b)] + pal[int(r), int(g), int(b)]
    return out


def rgba(img, pal):
    out = np.zeros(img.shape[:2], dtype=int)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal.get(tuple(img[i, j]), -1)
    return out


def rgb_torch(img, pal):
    out = torch.zeros(img.shape[:2], dtype=torch.long)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal.get(tuple(img[i, j].tolist()), -1)
    return out


def rgb_torch_tensors(img, pal):
    out = torch.zeros(img.shape[:2], dtype=torch.long)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal.get(tuple(img[i, j]), -1)
    return out


def rgb_floats(img, pal):
    out = np.zeros(img.shape[:2], dtype=int)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = pal.get(tuple(img[i, j]), -1)
    return out


def rgb_neg(img, pal):
    return [[pal.get(tuple(p), 0.0) for p in row] for row in img]


def emptydict(a, d):
    return [d.get(int(k), 0) for k in a]


def hugekeys(a, d):
    return [d.get(int(k), 0) for k in a]


def boolkeys(a, d):
    return [d.get(int(k), 0) for k in a]


def strkeys(a, d):
    return [d.get(int(k), 0) for k in a]


def npboolkeys(a, d):
    return [d.get(k, 0) for k in a]


def written(a, d):
    out = []
    for k in a:
        out.append(d.get(int(k), 0))
        d[int(k)] = 5
    return out


def written_const(a, d):
    out = []
    for k in a:
        d[0] = 5
        out.append(d.get(int(k), 0))
    return out


def written_before(a, d):
    d[0] = 50
    out = []
    for k in a:
        out.append(d.get(int(k), 0))
    return out


def local(a):
    m = {0: 1, 1: 2, 2: 4, 9: 8}
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = m.get(a[i], 0.5)
    return out


def local_tuple(a):
    m = {0: (1, 2, 3), 1: (4, 5, 6), 2: (7, 8, 9)}
    out = np.zeros((len(a), 3), dtype=np.uint8)
    for i in range(len(a)):
        if a[i] in m:
            out[i] = m[a[i]]
    return out


def local_tuple_big(a):
    m = {0: (1, 2, 300), 1: (4, 5, 6), 2: (7, 8, 9)}
    out = np.zeros((len(a), 3), dtype=np.uint8)
    for i in range(len(a)):
        if a[i] in m:
            out[i] = m[a[i]]
    return out


def local_missing(a):
    m = {0: 1, 1: 2}
    return [m[int(k)] for k in a]


def local_changed(a):
    m = {0: 1, 1: 2, 2: 0, 5: 0, 9: 0, 3: 0}
    out = []
    for k in a:
        out.append(m[int(k)])
        m[0] += 1
    return out


def local_float(a):
    m = {0: 1, 1: 2.5}
    return [m.get(int(k), 0) for k in a]


def glob(a):
    out = np.zeros((len(a), 3), dtype=np.uint8)
    for i, k in enumerate(a):
        out[i] = CL[k]
    return out


def loc(a):
    m = {0: [255, 0, 0], 1: [0, 255, 0], 2: [1, 2, 3]}
    out = np.zeros((len(a), 3), dtype=np.uint8)
    for i, k in enumerate(a):
        if k in m:
            out[i] = m[k]
    return out


def app(a):
    return [CL[int(k)] for k in a]


def nparr(a):
    return np.array([CL[int(k)] for k in a])


def nparr2(a):
    return np.stack([np.array(CL[int(k)]) * 2 for k in a])


def unp(a):
    s = 0
    for k in a:
        r, g, _b = CL[int(k)]
        s += r + 2 * g + CL[k][2]
    return s


def intolist(a, o):
    for i, k in enumerate(a):
        o[i] = CL[int(k)]
    return o


def intolist2(a):
    o = [0] * 7
    for i, k in enumerate(a):
        o[i] = CL[int(k)]
    return o


def intotorch(a):
    o = torch.zeros(7, 3)
    for i, k in enumerate(a):
        o[i] = torch.tensor(CL[int(k)])
    return o


CASES = [
    (
        t1,
        (
            A,
            D,
        ),
    ),
    (
        missing,
        (
            A,
            {0: 7, 1: 3},
        ),
    ),
    (
        floatkeys,
        (
            A.astype(float),
            D,
        ),
    ),
    (
        tensorkeys,
        (
            L,
            D,
        ),
    ),
    (
        itemkeys,
        (
            L,
            D,
        ),
    ),
    (
        floatvals,
        (
            A,
            DF,
        ),
    ),
    (
        mixedvals,
        (
            A,
            {0: 1, 1: 2.5, 2: 3},
        ),
    ),
    (
        negkeys,
        (
            A - 20,
            {-20: 1, -19: 4, -11: 3},
        ),
    ),
    (
        nonevals,
        (
            A,
            {0: None, 1: 3},
        ),
    ),
    (
        getnone,
        (
            A,
            {0: 4, 1: 3},
        ),
    ),
    (
        found,
        (
            A,
            {0: 4, 1: 3},
        ),
    ),
    (
        tuplevals,
        (
            A,
            {0: (1, 2.0), 1: (3, 4.5), 2: (0, 0.0), 5: (1, 1.0), 9: (2, 2.0), 3: (8, 8.0)},
        ),
    ),
    (
        raggedtuples,
        (
            A,
            {0: (1, 2), 1: (3, 4, 5)},
        ),
    ),
    (
        listvals,
        (
            A,
            {0: [1, 2], 1: [3, 4], 2: [5, 6], 5: [7, 8], 9: [1, 1], 3: [0, 0]},
        ),
    ),
    (
        tensorvals,
        (
            A,
            {k: torch.arange(3.0) + k for k in D},
        ),
    ),
    (
        tensorvals_grad,
        (
            A,
            {k: (torch.arange(3.0) + k).requires_grad_() for k in D},
        ),
    ),
    (
        arrayvals,
        (
            A,
            {k: np.arange(3.0) + k for k in (0, 1, 2, 5, 9, 3)},
        ),
    ),
    (
        arrayvals_alias,
        (
            A,
            {k: np.arange(3.0) + k for k in (0, 1, 2, 5, 9, 3)},
        ),
    ),
    (
        rgb_get,
        (
            IMG,
            PAL,
        ),
    ),
    (
        rgb_missing,
        (
            IMG,
            PAL,
        ),
    ),
    (
        rgb_parts,
        (
            IMG,
            PAL,
        ),
    ),
    (
        rgba,
        (
            np.concatenate([IMG, IMG[..., :1]], -1),
            PAL,
        ),
    ),
    (
        rgb_torch,
        (
            torch.from_numpy(IMG),
            PAL,
        ),
    ),
    (
        rgb_torch_tensors,
        (
            torch.from_numpy(IMG),
            PAL,
        ),
    ),
    (
        rgb_floats,
        (
            IMG.astype(float),
            PAL,
        ),
    ),
    (
        rgb_neg,
        (
            IMG.astype(np.int64) * -1,
            {(0, 0, 0): 1.5, (-255, 0, 0): 2.5, (-1, -2, -3): 3.5},
        ),
    ),
    (
        emptydict,
        (
            A,
            {},
        ),
    ),
    (
        hugekeys,
        (
            A,
            {0: 1, 10**12: 5},
        ),
    ),
    (
        boolkeys,
        (
            A,
            {True: 1, 2: 5},
        ),
    ),
    (
        strkeys,
        (
            A,
            {"a": 1},
        ),
    ),
    (
        npboolkeys,
        (
            A == 0,
            {0: 1, 1: 5},
        ),
    ),
    (
        written,
        (
            A,
            D,
        ),
    ),
    (
        written_const,
        (
            A,
            D,
        ),
    ),
    (
        written_before,
        (
            A,
            D,
        ),
    ),
    (local, (A,)),
    (local_tuple, (A,)),
    (local_tuple_big, (A,)),
    (local_missing, (A,)),
    (local_changed, (A,)),
    (local_float, (A,)),
    (glob, (A,)),
    (loc, (A,)),
    (app, (A,)),
    (nparr, (A,)),
    (nparr2, (A,)),
    (unp, (A,)),
    (
        intolist,
        (
            A,
            [None] * 7,
        ),
    ),
    (intolist2, (A,)),
    (intotorch, (L,)),
]

KEPT = frozenset(
    """missing floatkeys tensorkeys mixedvals nonevals getnone raggedtuples tensorvals tensorvals_grad
    arrayvals_alias rgb_missing rgba rgb_torch_tensors rgb_floats emptydict hugekeys boolkeys strkeys
    npboolkeys written written_const local_tuple_big local_missing local_float loc app nparr intolist
    intolist2""".split()
)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)


def by_one_number(a, d):
    out = np.zeros(len(a), dtype=np.int64)
    for i in range(len(a)):
        out[i] = d.get(a[i], -1) if a[i] % 2 else d[a[i]]
    return out


def by_two_numbers(a, d):
    return np.array([d.get(tuple(row), -1) for row in a])


ONE = [
    {k: k * 3 for k in range(6)}, {0: 1, 2: 3, 4: 5, 90: 2}, {0: 1, 2: 3, 4: 5}, {-5: 2, 0: 1, 2: 3, 4: 5}, {},
    {0: 1.5, 2: 2, 4: 3}, {0: 1, 2: 2, 4: 2**70}, {0: 1, 2: 3, 4: 5, 10**9: 3}, {0: 1, 2: 3, "a": 3, 4: 4},
    {0: 1, 2: True, 4: 3}, {2.0: 3, 0: 1, 4: 2}, {k: k for k in range(6)},
]  # fmt: skip
TWO = [
    {(0, 1): 1, (2, 3): 2}, {(0, 1): 1, (2, 3): 2, (0, 0): 7}, {(0, 1, 2): 1, (2, 3, 4): 2}, {(0, 1): 1, (2,): 3},
    {(0, "a"): 2}, {(0, 1): 1, (2, 3): 2.5}, {(-5, 10**9): 3}, {(0, 1.0): 1}, {0: 3}, {(0,): 3},
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_what_a_dict_holds_is_asked_at_every_call(backend):
    for function, keys, dicts in ((by_one_number, np.arange(6), ONE), (by_two_numbers, np.eye(3, 2, dtype=int), TWO)):
        lifted = lift(function, backend=backend, verify="off")
        for table in dicts:
            assert not difference(outcome(lifted, (keys, table)), outcome(function, (keys, table)), magnitude=1.0)


def doubled(a, d):
    out = []
    for k in a:
        out.append(d[int(k)] * 2)
    return out


def paired(a, d):
    total = 0
    for k in a:
        p, q = d[int(k)]
        total += p * q
    return total


def counted(a, held):
    n = 0
    for k in a:
        if int(k) in held:
            n += 1
    return n


V = torch.ones(3)
VALUES = [
    {0: 1, 1: 2}, {0: 1, 1: 2.5}, {0: 1.0, 1: True}, {0: 1.5, 1: 2.5}, {0: V, 1: V * 2}, {0: V, 1: V.double()},
    {0: V, 1: 3}, {0: V, 1: torch.ones(2)}, {0: V, 1: V.clone().requires_grad_()}, {0: np.ones(2), 1: np.ones(2)},
    {0: np.ones(2), 1: np.ones(2, dtype=np.float32)}, {0: np.float64(1), 1: 2.0}, {0: (1, 2), 1: (3, 4)},
    {0: "a", 1: "b"}, {0: "a", 1: 2}, {0: [1], 1: [2]}, {0: [1], 1: (2,)}, {0: None, 1: 3},
]  # fmt: skip
PAIRS = [
    {0: (1, 2), 1: (3, 4)}, {0: (1, 2), 1: (3, 4.5)}, {0: (1, 2), 1: [3, 4]}, {0: (1, 2), 1: (3, 4, 5)},
    {0: [1, 2], 1: [3, 4]}, {0: (1, V), 1: (2, V)}, {0: V[:2], 1: V[1:]}, {0: (1, 2), 1: "ab"},
    {0: (1.0, 2), 1: (3, 4)}, {0: (True, 2), 1: (3, 4)},
]  # fmt: skip
SETS = [
    {1, 2}, {1, 2.0}, {"a"}, {1, "b"}, [1, 2], [1, 2.0], [1, 1, 3], [True, 5], [], set(), frozenset([1]), {2**70},
    {0: 1}, (1, 2), {1: 3}, range(3),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_values_of_other_kinds_are_noticed(backend):
    keys = np.array([0, 1, 0])
    for function, holders in ((doubled, VALUES), (paired, PAIRS), (counted, SETS)):
        lifted = lift(function, backend=backend, verify="off")
        for holder in [*holders, *holders]:
            wanted, found = outcome(function, (keys, holder)), outcome(lifted, (keys, holder))
            assert not difference(found, wanted, magnitude=1.0), (function.__name__, holder)


def sums_under(keys, held):
    total = 0
    for key in keys:
        total += held[key] if key in held else -1
    return total


def found_under(keys, held):
    total = 0
    for key in keys:
        total += held.get(key, -1)
    return total


@pytest.mark.parametrize("function", [sums_under, found_under])
def test_keys_that_are_rows_of_a_list(function):
    held = {(0, 1): 2, (1, 2): 5}
    keys = ([(0, 1), (1, 0)], [(0, 1, 2)], ["a"], [3], [None], [(0.0, True)], [(1, 2), (1,)], [[0, 1]], [])
    for backend in ("auto", "torch", "native"):
        lifted = lift(function, verify="off", backend=backend)
        for each in keys:
            assert outcome(lifted, (each, held)) == outcome(function, (each, held))
