"""Loops over generator functions. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

X = np.arange(24.0).reshape(8, 3)
V = np.arange(10.0)
T = torch.arange(12.0, requires_grad=True)
SCALE = 3.0


def windows_of(x, w, s=2):
    """doc"""
    for i in range(0, len(x) - w + 1, s):
        yield x[i : i + w]


def roots_of(x):
    for v in x:
        if v < 3:
            continue
        if v > 7:
            return
        yield np.sqrt(v) * SCALE


def pairs_below(n):
    for i in range(n):
        for j in range(i + 1, n):
            yield i, j


def counted_down(n):
    while n > 0:
        yield n
        n -= 1


def each_twice(x):
    for v in x:
        yield v
        yield -v


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        yield a
        a, b = b, a + b


def w(x):
    return np.array([p.mean() for p in windows_of(x, 3)])


def w_kw(x):
    out = []
    for p in windows_of(s=1, x=x, w=4):
        out.append(p.max() - p.min())
    return out


def scaled(x):
    s = 0.0
    for v in roots_of(x):
        s += v
    return s


def pairs(x):
    s = []
    for i, j in pairs_below(len(x)):
        s.append(np.abs(x[i] - x[j]).sum())
    return np.array(s)


def pairs_break(x):
    n = 0
    for i, j in pairs_below(len(x)):
        if i + j > 6:
            break
        n += i * j
    return n


def pairs_continue(x):
    n = 0
    for i, j in pairs_below(len(x)):
        if i + j > 6:
            continue
        n += i * j
    return n, i, j


def falling(n):
    s = 0
    for k in counted_down(n):
        s += k * k
    return s, n


def twice(x):
    s = 0.0
    for k in each_twice(x):
        s += k * k
    return s


def fibs(n):
    s = 0
    for k in fibonacci(n):
        if k % 2 == 0:
            s += k
    return s


def local(x):
    w = 3

    def chunks():
        for i in range(0, len(x), w):
            yield x[i : i + w]

    out = []
    for c in chunks():
        if len(c) == w:
            out.append(c.sum())
    return np.array(out)


def name_clash(x):
    i = 100
    w = 7
    n = 0.0
    for p in windows_of(x, 3):
        n += p[0] * i
    return n, i, w


def grad(x):
    out = []
    for p in windows_of(x, 4, 4):
        out.append((p**2).sum())
    return torch.stack(out)


def nested(x):
    tot = torch.zeros(())
    for k in range(1, 4):
        for p in windows_of(x, 4, k):
            if p[0] > 2:
                tot = tot + p.mean() * k
    return tot


def in_if(x):
    t = 0.0
    for k in range(5):
        if k % 2:
            for v in roots_of(x):
                t += v * k
        else:
            t -= 1
    return t


def mutates(x):
    for p in windows_of(x, 3, 3):
        p[0] = p.sum()
    return x


def empty(x):
    p = None
    for p in windows_of(x, 30):
        pass
    return p


def raises(x):
    out = []
    for i, p in enumerate(windows_of(x, 3)):
        out.append(p[i])
    return out


def missing_arg(x):
    out = []
    for p in windows_of(x):
        out.append(p.sum())
    return out


def listcomp(xs):
    return [[float(p.sum()) for p in windows_of(x, 3)] for x in xs]


def summed(x):
    return sum(v for v in roots_of(x)), max(v for v in roots_of(x))


def local_function(x):
    w = 3

    def chunks():
        for i in range(0, len(x), w):
            yield x[i : i + w]

    out = []
    for c in chunks():
        if len(c) == w:
            out.append(c.sum())
    return np.array(out)


def local2(x):
    w = 3.5
    n = 0

    def vals():
        for v in x:
            if v > w:
                yield v * w

    for c in vals():
        n += c
    w = 5
    for c in vals():
        n += c
    return n


def local_changes(x):
    w = 3.5
    n = 0

    def vals():
        for v in x:
            if v > w:
                yield v * w

    for c in vals():
        n += c
        w = w + 1
    return n


def local_rebinds(x):
    n = 0

    def vals():
        for v in x:
            yield v

    for c in vals():
        n += c
        x = x * 2
    return n


def local_write(x):
    n = 0

    def vals():
        for i in range(len(x)):
            yield x[i]

    for c in vals():
        n += c
        x[5] = n
    return n, x


def scaled_by_place(v, /, n=2, *, off=0.0):
    for i in range(n):
        yield v * i + off


def placed(x):
    total = 0.0
    for v in x:
        for part in scaled_by_place(v, off=1.0):
            total = total * 0.5 + part
    return total


def place_by_name(x):
    total = 0.0
    for v in x:
        for part in scaled_by_place(v=v):
            total += part
    return total


def place_by_name_in_a_sum(x):
    total = 0.0
    for v in x:
        total += sum(part * 2 for part in scaled_by_place(n=3, v=v))
    return total


CASES = [
    (placed, (V,)),
    (place_by_name, (V,)),
    (place_by_name_in_a_sum, (V,)),
    (w, (V,)),
    (w_kw, (V,)),
    (scaled, (V,)),
    (pairs, (X,)),
    (pairs_break, (X,)),
    (pairs_continue, (X,)),
    (falling, (5,)),
    (twice, (V,)),
    (fibs, (12,)),
    (local, (V,)),
    (name_clash, (V,)),
    (grad, (T,)),
    (nested, (T,)),
    (in_if, (V,)),
    (mutates, (V,)),
    (empty, (V,)),
    (raises, (V,)),
    (missing_arg, (V,)),
    (listcomp, ([V, V + 1, V * 2],)),
    (summed, (V,)),
    (local_function, (V,)),
    (local2, (V,)),
    (local_changes, (V,)),
    (local_rebinds, (V,)),
    (local_write, (V,)),
]
KEPT = frozenset(
    """pairs_break pairs_continue twice local empty raises missing_arg local_function local2 local_changes
    local_rebinds local_write place_by_name place_by_name_in_a_sum""".split()
)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)
