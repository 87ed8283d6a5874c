"""Program 4753: result[0]: requires_grad True instead of False  [seed 0]"""

import torch


def program(x, y, scale):
    n = y.shape[0]
    m = y.shape[1]
    out1 = torch.full((n,), 1.0, dtype=torch.float32)
    out2 = torch.zeros((m,), dtype=torch.float32)
    state3 = 0.0
    for left0, right0 in zip(out1, out2):
        for j, row1 in enumerate(out1):
            out1[j] = j
            out1[j] = (x[j] * (-1.0)).item()
    return out1, out2, state3


SIZES = [(5, 3), (7, 4), (0, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, generator=g) * 2).round() / 2
    x.requires_grad_(seed != 2)
    y = ((torch.randn(n, 2 * m, generator=g) * 2).round() / 2)[:, 1::2]
    y.requires_grad_(seed != 2)
    scale = 1.25
    return (
        x,
        y,
        scale,
    )
