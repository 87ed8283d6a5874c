"""Lists of numbers that a loop sorts. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

I = np.cos(np.arange(30.0)).reshape(5, 6)
U = (np.arange(30).reshape(5, 6) * 37 % 251).astype(np.uint8)


def filtered(img):
    h, w = img.shape
    out = np.zeros((h, w), dtype=img.dtype)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            vals = sorted([img[i + a, j + b] for a in range(-1, 2) for b in range(-1, 2)])
            out[i, j] = vals[len(vals) // 2]
    return out


def medians(img):
    return filtered(img)


def medians_of_bytes(img):
    return filtered(img)


def not_numbers(img):
    return filtered(img)


def zeros_of_both_signs(img):
    return filtered(img)


def near_the_border(img):
    h, w = img.shape
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            vals = []
            for a in range(-1, 2):
                for b in range(-1, 2):
                    if 0 <= i + a < h and 0 <= j + b < w:
                        vals.append(img[i + a, j + b])
            vals = sorted(vals)
            out[i, j] = vals[len(vals) // 2]
    return out


def lists_of_integers(xs):
    return [sorted(x)[0] for x in xs], [sorted(x)[-1] * 2 for x in xs]


def mixed_lists(xs):
    return [sorted(x)[0] for x in xs]


def largest_first(xs):
    out = []
    for x in xs:
        s = sorted(x, reverse=True)
        out.append(s[0] - s[1])
    return out


def by_key(xs):
    out = []
    for x in xs:
        s = sorted(x, key=lambda v: -v)
        out.append(s[0] - s[1])
    return out


def of_tensors(x):
    out = []
    for row in x:
        s = sorted(row.tolist())
        out.append(s[1])
    return out


def of_elements(x):
    out = []
    for row in x:
        s = sorted(row)
        out.append(s[1])
    return out


def of_rows(x):
    out = []
    for row in x:
        s = sorted(row)
        out.append(s[1])
        out.append(s[-1])
    return out


def sliced(x):
    out = []
    for row in x:
        s = sorted(row)[1:-1]
        out.append(sum(s) / len(s))
    return out


def a_new_list(x):
    out = []
    for row in x:
        v = [row[0], row[1], row[2]]
        s = sorted(v)
        v[0] = 100.0
        out.append(s[0] + v[0] + len(s))
    return out


def handed_out(x):
    vals = []
    for row in x:
        vals.append(row[0])
    return sorted(vals)


def of_booleans(x):
    out = []
    for row in x:
        out.append(sorted([row[0] > 0, row[1] > 0])[0])
    return out


def of_words(xs):
    return [sorted(x)[0] for x in xs]


def of_nothing(x):
    n = 0
    for row in x:
        s = sorted([v for v in row if v > 5])
        n += len(s)
    return n


CASES = [
    (medians, (I,)),
    (medians_of_bytes, (U,)),
    (not_numbers, (np.where(I > 0.9, np.nan, I),)),
    (zeros_of_both_signs, (np.where(I > 0, -0.0, 0.0),)),
    (near_the_border, (I,)),
    (lists_of_integers, ([[3, 1, 2], [9, 8, 7], [5, 5]],)),
    (mixed_lists, ([[3.5, 1, 2], [9, 8, 7], [5, 5]],)),
    (largest_first, ([[3.5, 1.0, 2.0], [9.0, 8.0, 7.0]],)),
    (by_key, ([[3.5, 1.0, 2.0], [9.0, 8.0, 7.0]],)),
    (of_tensors, (torch.from_numpy(I.copy()),)),
    (of_elements, (torch.from_numpy(I.copy()),)),
    (of_rows, (I,)),
    (sliced, (I,)),
    (a_new_list, (I,)),
    (handed_out, (I,)),
    (of_booleans, (I,)),
    (of_words, ([["b", "a"], ["c", "d"]],)),
    (of_nothing, (I,)),
]
KEPT = frozenset("""mixed_lists by_key of_elements sliced a_new_list of_booleans of_words""".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)
