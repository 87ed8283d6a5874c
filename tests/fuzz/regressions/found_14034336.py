"""A gradient of one product of a matrix is zero for the others, of which a factor is infinite."""

import torch


def program(square, y, n):
    out = []
    for i in range(n):
        out.append(torch.tensordot(square[i], y[i], 1))
    return out


SIZES = [(4, 3), (5, 3), (3, 3), (5, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    square = torch.where(
        torch.randn(n, m, m, generator=g, dtype=torch.float64).abs() < 1.2,
        torch.randn(n, m, m, generator=g, dtype=torch.float64),
        torch.tensor([float("nan"), float("inf"), -0.0, 0.0, float("-inf")], dtype=torch.float64)[
            torch.randint(0, 5, (n, m, m), generator=g)
        ],
    ).to(torch.float32)
    y = ((torch.randn(n, m, generator=g, dtype=torch.float64) * 2).round() / 2).to(torch.float32)
    y.requires_grad_()
    return (square, y, n)
