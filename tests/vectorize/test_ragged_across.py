"""Ragged lists of loops around which others run: their items by place, for all of these at once."""

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
