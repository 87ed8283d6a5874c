"""A gradient of one product alone is zero for the others, of which a factor is infinite."""

import torch


def program(x, y, n):
    out = []
    for i in range(n):
        out.append(torch.matmul(x[i], y[i]))
    return out


SIZES = [(4, 3), (2, 1), (3, 2), (1, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g, dtype=torch.float64).to(torch.float64)
    x.requires_grad_()
    y = torch.where(
        torch.randn(n, m, generator=g, dtype=torch.float64).abs() < 1.2,
        torch.randn(n, m, generator=g, dtype=torch.float64),
        torch.tensor([float("nan"), float("inf"), -0.0, 0.0, float("-inf")], dtype=torch.float64)[
            torch.randint(0, 5, (n, m), generator=g)
        ],
    ).to(torch.float64)
    return (x, y, n)
