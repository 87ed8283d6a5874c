"""Parts of a row whose ends are read at other places have other lengths."""

import torch


def program(x, a, n):
    out = torch.zeros(n, n, dtype=torch.float64)
    one = torch.zeros(n, dtype=torch.float64)
    for i in range(n):
        for j in range(n):
            out[i, j] = x[: a[i, j]].sum() - x[: a[j, i]].sum()
        one[i] = x[: a[0, i]].sum() + 100 * x[: a[0, 2 * i]].sum() + x[a[1, i] : a[1, i] + a[1, 2 * i]].sum()
        one[i] += x[: a[i, :2].max()].sum() - x[: a[i, 2:].max()].sum()
    return out, one


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.arange(1.0, 21, dtype=torch.float64), torch.randint(0, 9, (8, 8), generator=g), 4
