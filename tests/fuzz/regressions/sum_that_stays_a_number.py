"""A sum that begins as a number in front of two loops, of which a third one is left before it adds anything."""

import torch


def program(x, y, labels_nn):
    n = x.shape[0]
    m = y.shape[0]
    kept2 = 0.0
    copied5 = x.clone()
    for i in range(n):
        for j in range(n):
            for l in range(0, m, 3):
                if 0.5 < y[l][1]:
                    break
                kept2 = kept2 + (y[l:l] > 0).sum()
        copied5[labels_nn == i] += 0.5
    return (kept2,)


SIZES = [(3, 4), (3, 3), (1, 4), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, generator=g) * 2).round() / 2
    y = (torch.randn(m, m, generator=g) * 2).round() / 2
    labels_nn = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (x, y, labels_nn)
