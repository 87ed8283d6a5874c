"""Program 14045315: result[0]: requires_grad False instead of True  [seed 0, no_grad]"""

import torch


def program(square, n):
    out = []
    for i in range(n):
        out.append(square[i].clone().requires_grad_())
    return out


SIZES = [(4, 3), (1, 2), (0, 3), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    square = torch.randn(n, m, m, generator=g, dtype=torch.float64).to(torch.float32)
    square.requires_grad_()
    return (square, n)
