import torch


def program(x, k):
    def again():
        nonlocal k
        k = 2
        return False

    match k:
        case 1 if again():
            factor = 1.0
        case 2:
            factor = 2.0
        case _:
            factor = 3.0
    total = torch.zeros((), dtype=torch.float64)
    for v in x:
        total = total + v * factor
    return total


def arguments(seed):
    return torch.randn(4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), seed % 3
