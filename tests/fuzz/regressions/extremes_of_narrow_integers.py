"""PyTorch's integers of 8, 16 and 32 bits are compared with one another in a typed program."""

import torch


def program(x, y):
    top, least = 0, 100
    for i in range(len(x)):
        top = max(min(x[i], y[i]), top)
        least = min(y[i], least, x[i])
    return top, least


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n, dtype = [4, 3, 1, 0][seed % 4], [torch.uint8, torch.int16, torch.int8, torch.int32][seed % 4]
    return torch.randint(0, 9, (n,), generator=g).to(dtype), torch.randint(0, 9, (n,), generator=g).to(dtype)
