"""A condition of many parts, each of which is a branch of its own in C++."""

import torch


def program(x, weight):
    n, m = x.shape
    out = torch.zeros(n, m)
    for i in range(n):
        for j in range(m):
            acc = weight[0]
            for k in range(3):
                r, c = i + k - 1, j - k
                if r < 0 or r >= n or c < 0 or c >= m:
                    continue
                acc = acc + x[r, c] * weight[k]
            out[i, j] = acc if acc > 0 else 0.0
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(3 + seed, 4, generator=g), torch.randn(3, generator=g)
