import torch


def program(x):
    out = torch.zeros(len(x), dtype=torch.float64)
    for i in range(len(x)):
        k = 10
        scale = lambda v: v * k
        out[i] = sum(scale(x[i, k]) for k in range(3))
        found = [scale(x[i, k]) + k for k in range(3)]
        out[i] += found[1] * found[2]
    return out


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(5, 3, generator=generator, dtype=torch.float64),)
