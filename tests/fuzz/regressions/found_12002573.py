import torch


def program(x, uneven):
    total1 = 0.0
    for piece0 in uneven:
        sum0 = piece0.sum()
        v2 = min(x.sum(), total1)
        total1 += x.min()
        total1 = sum0 * v2
    return total1


def arguments(seed):
    n, m = [(6, 2), (3, 3), (3, 0), (1, 3)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    uneven = [torch.randn(1 + (r * 5 + seed) % 3, generator=g) for r in range(n)]
    return (x, uneven)
