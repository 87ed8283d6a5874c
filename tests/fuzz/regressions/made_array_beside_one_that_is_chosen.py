import torch


def program(x, y):
    other = x
    made = torch.full((len(x),), 0.5, dtype=torch.float64)
    least = float("inf")
    for _ in y:
        v = 2
        least = min((y if v >= 0.0 else other).norm(), least)
    return made, least


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    n = (3, 2, 1, 0)[seed % 4]
    return torch.randn(n, generator=generator, dtype=torch.float64), torch.randn(
        n, generator=generator, dtype=torch.float64
    )
