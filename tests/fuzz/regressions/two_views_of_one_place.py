"""Two views of one place are two objects, as they are where the loop hands them out."""

import torch


def program(rows, n):
    first, second = rows[0], rows[0]
    turned, again = rows.T, rows.T
    out = torch.zeros(n)
    for i in range(n):
        out[i] = rows[i % 3].sum() + turned[0, i % 3]
    return first, second, [turned, again], turned, out


def arguments(seed):
    return (torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)), seed)
