"""Ragged lists of loops around which others run: their items by place, for all of these at once."""

import numpy as np
import torch
from tests.vectorize.harness import check


def rows(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def first_and_last(q, v):  # read by list place
    out = torch.zeros_like(v)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            sc = []
            for j in range(i + 1):
                sc.append(q[h, i].sum() * q[h, j].sum())
            out[h, i] = sc[-1] * v[h, i] + sc[0]
    return out


def weighted_by_the_next(q, v):
    out = torch.zeros_like(v)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            sc = []
            for j in range(i + 1):
                sc.append((q[h, i] * q[h, j]).sum())
            a = torch.softmax(torch.stack(sc), 0)
            for j in range(i):
                out[h, i] += a[j + 1] * v[h, j] - a[j]
    return out


def attention_over_neighbours(q, near):
    out = torch.zeros(q.shape[0], q.shape[1], dtype=q.dtype)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            e = []
            for j in near[i]:
                e.append((q[h, i] - q[h, j]).norm() + 0.1)
            if len(e) == 0:
                continue
            w = torch.softmax(torch.stack(e), 0)
            for n, j in enumerate(near[i]):
                out[h, i] += w[n] * q[h, j].sum()
    return out


def windows_of_heads(q, v):
    B = q.shape[0]
    out = torch.zeros(B, 2, q.shape[1], dtype=q.dtype)
    for b in range(B):
        for h in range(2):
            for i in range(q.shape[1]):
                lo = max(0, i - 2)
                p = torch.softmax(torch.stack([q[b, i, h] * q[b, j, h + 1] for j in range(lo, i + 1)]), 0)
                for j in range(lo, i + 1):
                    out[b, h, i] = out[b, h, i] + p[j - lo] * v[b, j, h]
    return out


def causal_attention_of_heads(q, k, v):
    out = torch.zeros_like(v)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            scores = []
            for j in range(i + 1):
                scores.append((q[h, i] * k[h, j]).sum())
            a = torch.softmax(torch.stack(scores), 0)
            for j in range(i + 1):
                out[h, i] += a[j] * v[h, j]
    return out


def middle_neighbours(q, near):
    res = []
    for i in range(q.shape[1]):
        for h in range(q.shape[0]):
            e = torch.stack([q[h, j].sum() for j in near[i]])
            res.append(e[len(near[i]) // 2])
    return torch.stack(res)


def shares_of_neighbours(q, near):
    out = torch.zeros(q.shape[0], q.shape[1], 2, dtype=q.dtype)
    for b in range(2):
        for i in range(q.shape[1]):
            for h in range(q.shape[0]):
                e = torch.stack([q[h, j].sum() * (b + 1) for j in near[i]])
                w = e.softmax(0)
                out[h, i, b] = w[0] - w[-1]
                for n in range(len(near[i])):
                    out[h, i, b] += w[n] * q[h, near[i][n], 0]
    return out


def rows_of_neighbours(q, near):
    out = torch.zeros(q.shape[1], q.shape[0], q.shape[2], dtype=q.dtype)
    for i in range(q.shape[1]):
        for h in range(q.shape[0]):
            e = [q[h, j] for j in near[i]]
            out[i, h] = e[0] - e[len(e) - 1]
            for n, j in enumerate(near[i]):
                out[i, h] = out[i, h] + e[n] * q[h, j].norm()
    return out


def attention_of_arrays(q, v):
    out = np.zeros(q.shape[:2])
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            sc = []
            for j in range(i + 1):
                sc.append(q[h, i, 0] * q[h, j, 1])
            a = np.array(sc)
            a = np.exp(a - a.max())
            a = a / a.sum()
            for j in range(i + 1):
                out[h, i] += a[j] * v[h, j, 0]
    return out


def folds_of_arrays(q, k):
    out = np.zeros(q.shape[:2])
    top = np.zeros(q.shape[:2], dtype=k.dtype)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            a = []
            b = []
            for j in range(i + 1):
                a.append(q[h, j, 0])
                b.append(k[h, j, 1])
            out[h, i] = np.prod(np.array(a)) + np.array(a).min()
            top[h, i] = np.array(b).max()
    return out, top


def products_of_folds(q, near):
    out = np.zeros((q.shape[0], q.shape[1]), dtype=np.float32)
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            s = 0.0
            m = -1.0
            for j in near[i]:
                s += q[h, j, 0]
                m = max(m, q[h, j, 1])
            out[h, i] = s * m
    return out


def folds_of_rows(q, near):
    out = np.zeros((q.shape[0], q.shape[1], 2))
    for h in range(q.shape[0]):
        for i in range(q.shape[1]):
            if len(near[i]) == 0:
                continue
            rows = np.stack([q[h, j] for j in near[i]])
            out[h, i] = rows.max(0) - rows.mean(axis=0)
    return out


def test_items_of_lists_of_several_loops():
    values = [rows(2, n, 3) for n in (4, 1, 5)]
    for function in (first_and_last, weighted_by_the_next, windows_of_heads):
        check(function, *([one, one.flip(0)] for one in values))
    check(causal_attention_of_heads, *([one, one.flip(0), one * 2] for one in values))


def test_items_of_lists_over_neighbours():
    check(attention_over_neighbours, [rows(3, 5, 2), [[1, 2], [0], [4], [0, 1, 4], [3]]])
    check(
        attention_over_neighbours,
        [rows(3, 5, 2), [[1, 2], [0], [4], [0, 1, 4], [3]]],
        [rows(2, 3, 2), [[1], [], [0, 1, 2]]],
    )


def test_items_of_lists_of_loops_in_any_order():
    near = [[1, 2], [0], [4], [0, 1, 4], [3]]
    for function in (middle_neighbours, shares_of_neighbours, rows_of_neighbours):
        check(function, [rows(3, 5, 2), near], [rows(2, 5, 2), near[::-1]])


def test_folds_of_arrays():
    random, near = np.random.default_rng(0), [[1, 2], [0], [4], [0, 1, 4], [3]]
    for n in (4, 1, 5):
        q, k = random.normal(size=(2, n, 3)), random.integers(0, 9, size=(2, n, 3))
        check(attention_of_arrays, [q, q + 1], gradients=False)
        check(folds_of_arrays, [q, k], gradients=False)
    for function in (products_of_folds, folds_of_rows):
        check(function, [random.normal(size=(3, 5, 2)), near], gradients=False)
    check(products_of_folds, [random.normal(size=(3, 5, 2)), [[1], [], [0, 2], [], [4, 4]]], gradients=False)
