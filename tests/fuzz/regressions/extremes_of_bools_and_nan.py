"""The greatest of truth values under a condition, and the greatest number where the first is NaN."""

import torch


def program(flags, mask, x, first):
    any_of = torch.zeros(flags.shape[1], dtype=torch.bool)
    least = torch.full((flags.shape[1],), 255, dtype=torch.uint8)
    for i in range(flags.shape[0]):
        if mask[i]:
            any_of = torch.maximum(any_of, flags[i])
            least = torch.minimum(least, flags[i].to(torch.uint8) + 200)
    for i in range(x.shape[0]):
        first = max(x[i].item(), first)
    return (any_of, least, first)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n, m = ((3, 2), (1, 3), (4, 1), (0, 2))[seed % 4]
    first = float("nan") if seed % 2 else 0.5
    return torch.rand(n, m, generator=g) > 0.5, torch.rand(n, generator=g) > 0.5, torch.rand(n, generator=g), first
