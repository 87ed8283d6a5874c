"""Alone `gelu` of infinity is infinity, beside other elements it is NaN."""

import torch


def program(v, n):
    out = []
    for i in range(n):
        out.append(torch.nn.functional.gelu(v[i]))
    return out


SIZES = [(4, 3), (3, 2), (1, 2), (1, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    v = torch.where(
        torch.randn(n, generator=g, dtype=torch.float64).abs() < 1.2,
        torch.randn(n, generator=g, dtype=torch.float64),
        torch.tensor([float("nan"), float("inf"), -0.0, 0.0, float("-inf")], dtype=torch.float64)[
            torch.randint(0, 5, (n,), generator=g)
        ],
    ).to(torch.float32)
    return (v, n)
