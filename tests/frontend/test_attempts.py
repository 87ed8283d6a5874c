"""A ``try`` around what can be asked beforehand. The loop is the oracle."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

from looplift import lift

A = np.array([0, 1, 2, 5, 9, 3, 0])


def zd(a, b):
    out = []
    for x, y in zip(a, b):
        try:
            out.append(x / y)
        except ZeroDivisionError:
            out.append(-1.0)
    return out


def zd_np(a, b):
    out = []
    for x, y in zip(a, b):
        try:
            out.append(x / y)
        except ZeroDivisionError:
            out.append(-1.0)
    return out


def zd_item(a, b):
    out = []
    for i in range(len(a)):
        try:
            v = float(a[i]) / float(b[i])
        except ZeroDivisionError:
            v = -1.0
        out.append(v)
    return out


def zd_torch(a, b):
    out = []
    for x, y in zip(a, b):
        try:
            out.append(x / y)
        except ZeroDivisionError:
            out.append(-1.0)
    return out


def zd_int(a, b):
    q, r = [], []
    for x, y in zip(a, b):
        try:
            q.append(x // y)
            r.append(x % y)
        except (ZeroDivisionError, TypeError):
            q.append(0)
            continue
        else:
            r.append(100)
        q.append(1)
    return q, r


def zd_nan(a, b):
    t = 0.0
    n = 0
    for x, y in zip(a, b):
        try:
            t += x / y
        except Exception:
            n += 1
    return t, n


def zd_aug(a, b):
    out = []
    for x, y in zip(a, b):
        t = x
        try:
            t /= y
        except ZeroDivisionError:
            pass
        out.append(t)
    return out


def zd_return(a, b):
    for x, y in zip(a, b):
        try:
            t = y / x
            t += x / y
        except ZeroDivisionError:
            return t
    return -5.0


def zd_wrong_class(a, b):
    out = []
    for x, y in zip(a, b):
        try:
            out.append(x / y)
        except ValueError:
            out.append(0.0)
    return out


def log(a):
    out = []
    for x in a:
        try:
            out.append(math.log(x) + math.sqrt(x))
        except ValueError:
            out.append(-100.0)
    return out


def log_np(a):
    out = []
    for x in a:
        try:
            out.append(math.log(x) + math.sqrt(x))
        except ValueError:
            out.append(-100.0)
    return out


def nplog(a):
    out = []
    for x in a:
        try:
            out.append(np.log(x))
        except ValueError:
            out.append(-100.0)
    return out


def idx_list(i, v):
    out = []
    for k in i:
        try:
            out.append(v[k])
        except IndexError:
            out.append(-1.0)
    return out


def idx_np(i, v):
    out = []
    for k in i:
        try:
            out.append(v[k])
        except IndexError:
            out.append(np.float64(-1.0))
    return out


def idx_torch(i, v):
    s = 0.0
    for k in i:
        try:
            s += v[k].item()
        except (IndexError, KeyError):
            s -= 1.0
    return s


def idx_2d(x):
    out = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            try:
                out[i, j] = x[i + 1, j + 1] - x[i - 1, j]
            except IndexError:
                out[i, j] = -1
    return out


def idx_2d_pass(x):
    out = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            s = 0
            for di in (-1, 0, 1):
                try:
                    s += x[i + di][j + di]
                except IndexError:
                    pass
            out[i, j] = s
    return out


def store_oob(x):
    out = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            try:
                out[i + 1, j] = x[i, j]
            except IndexError:
                out[0, j] = 9
    return out


def key_else(a, d):
    hit = miss = 0
    for k in a:
        try:
            v = d[k]
        except KeyError:
            miss += 1
        else:
            hit += v
    return hit, miss


def two_handlers(a, d, w):
    z = k2 = ok = 0
    for k in a:
        try:
            v = d[int(k)] / w[int(k) // 5]
            ok += v
        except ZeroDivisionError:
            z += 1
        except KeyError:
            k2 += 1
    return z, k2, ok


def lookup_error(a, d):
    n = 0
    for k in a:
        try:
            n += d[k]
        except LookupError:
            n -= 1
    return n


def finally_(a, d):
    n = 0
    for k in a:
        try:
            n += d[k]
        except LookupError:
            n -= 1
        finally:
            n += 100
    return n


def named(a, d):
    n = 0
    for k in a:
        try:
            n += d[k]
        except KeyError as e:
            n -= 1 + len(e.args)
    return n


CASES = [
    (
        zd,
        (
            [1.0, 2.0, 0.0],
            [0.0, 0, 2],
        ),
    ),
    (
        zd_np,
        (
            np.array([1.0, 2.0, 0.0]),
            np.array([0.0, 1, 2]),
        ),
    ),
    (
        zd_item,
        (
            np.array([1.0, 2.0, 0.0]),
            np.array([0.0, 1, 2]),
        ),
    ),
    (
        zd_torch,
        (
            torch.tensor([1.0, 2.0, 0.0]),
            torch.tensor([0.0, 1, 2]),
        ),
    ),
    (
        zd_int,
        (
            [5, 7, 9],
            [0, 2, 3],
        ),
    ),
    (
        zd_nan,
        (
            [5.0, 7.0, float("nan")],
            [0.0, 2, 0.0],
        ),
    ),
    (
        zd_aug,
        (
            [5.0, 7.0, 3.0],
            [0.0, 2, 0.0],
        ),
    ),
    (
        zd_return,
        (
            [5.0, 7.0, 3.0],
            [0.0, 2, 0.0],
        ),
    ),
    (
        zd_wrong_class,
        (
            [5.0, 7.0, 3.0],
            [0.0, 2, 0.0],
        ),
    ),
    (log, ([5.0, -7.0, 0.0, float("nan"), float("inf")],)),
    (log_np, (np.array([5.0, -7.0, 0.0, float("nan"), float("inf")]),)),
    (nplog, (np.array([5.0, -7.0, 0.0, 3.0]),)),
    (
        idx_list,
        (
            [3, 0, 2, 7],
            [10.0, 20.0, 30.0, 40.0],
        ),
    ),
    (
        idx_np,
        (
            [3, 0, -4, -5, 7],
            np.arange(4.0),
        ),
    ),
    (
        idx_torch,
        (
            [3, 0, -4, -5, 7],
            torch.arange(4.0),
        ),
    ),
    (idx_2d, (np.arange(12.0).reshape(3, 4),)),
    (idx_2d_pass, (np.arange(12.0).reshape(3, 4),)),
    (store_oob, (np.arange(12.0).reshape(3, 4),)),
    (
        key_else,
        (
            A,
            {0: 3, 5: 4},
        ),
    ),
    (
        two_handlers,
        (
            A,
            {0: 3, 5: 4},
            [1.0, 0.0],
        ),
    ),
    (
        lookup_error,
        (
            A,
            {0: 3, 5: 4},
        ),
    ),
    (
        finally_,
        (
            A,
            {0: 3, 5: 4},
        ),
    ),
    (
        named,
        (
            A,
            {0: 3, 5: 4},
        ),
    ),
]

KEPT = frozenset("""zd_np zd_torch zd_wrong_class zd_aug nplog idx_np store_oob finally_ named""".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)


def test_handlers_that_nobody_asked_for_run_once(tmp_path):
    noted = []

    def inverse(value):
        return 1 / value

    def collected(values):
        out = []
        for value in values:
            try:
                out.append(inverse(value))
            except ZeroDivisionError:
                noted.append(value)
                out.append(0.0)
        return out

    def logged(values):
        out = []
        for value in values:
            try:
                out.append(1 / value)
            except ZeroDivisionError:
                tmp_path.joinpath(f"{len(noted)}").write_text("zero")
                noted.append(value)
        return out

    for function in (collected, logged):
        noted.clear()
        lifted = lift(function)
        for values in ([1, 2], [1, 0], [1, 0]):
            function_noted = len(noted)
            lifted(values)
            assert len(noted) - function_noted == values.count(0)


def of_a_default_dict(counts, keys):
    out = []
    for k in keys:
        try:
            v = counts[k]
        except (KeyError, ValueError):
            v = -1
        else:
            v = v + 1
        out.append(v * 2)
    return out, dict(counts)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("first", [None, int])
def test_default_dicts_make_what_they_lack(first, backend):
    lifted = lift(of_a_default_dict, backend=backend, verify="off")
    for factory in (first, int, lambda: 7, None):
        for held in ({1: 2, 2: 5}, {"a": 1, "c": 3}, {(1, 2): 4}):
            for keys in ([*held], [*held, 3, *held], ["b", (3, 4)]):
                written, found = (collections.defaultdict(factory, held) for _ in range(2))
                assert lifted(found, keys) == of_a_default_dict(written, keys)
                assert found == written
