"""Second gradients of the deviation of equal numbers are noise, in the loop as well."""

import torch


def program(x, n, near):
    kept3 = torch.zeros((n,), dtype=torch.float32)
    for i in range(n):
        mine1 = []
        for e2 in near[i]:
            mine1.append(torch.sqrt(torch.abs(x[-i - 1])))
        if len(mine1) > 1:
            kept3[i] = torch.stack(mine1).std()
    return kept3


SIZES = [(6, 2), (5, 2), (1, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    near = [[(5 * r + k) % m for k in range((r * 7 + 1) % 4)] if m else [] for r in range(n)]
    return (x, n, near)
