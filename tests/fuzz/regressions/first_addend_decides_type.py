import torch


def program(x, y):
    kept = 0.0
    for i in range(len(x)):
        if y[i] <= x[i][0]:
            kept += x[i].sum()
        kept += x[i].argmax()
    return kept


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    return x, torch.randn(4, generator=generator, dtype=torch.float64)
