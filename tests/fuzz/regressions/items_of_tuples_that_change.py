"""``pair[0] += x`` of a tuple raises after what is in the tuple was changed."""

import torch


def program(pairs):
    count = 0
    for pair in pairs:
        if pair[0] > 0:
            pair[0] += pair[1]
        count += 1
    return count


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    return ([(torch.randn((), generator=generator), torch.ones(())) for _ in range(seed % 4)],)
