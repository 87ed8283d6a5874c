import torch


def program(bonus, values):
    paid = 0.0
    pick = values[0]
    for i in range(1, len(values)):
        for j in range(i, len(values)):
            if j > 100:
                paid += bonus[j]
            if values[j] > 0:
                pick = values[j]
    return paid, pick


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(6, generator=generator), torch.randn(6, generator=generator)
