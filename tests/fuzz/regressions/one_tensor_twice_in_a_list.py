"""A tensor that an iteration puts into a list twice, by itself or in records, is one object there."""

import torch


def program(x):
    plain, extended, pairs, rows, nested = [], [], [], [], []
    for i in range(len(x)):
        one = x[i] * torch.ones(2)
        plain.append(one)
        plain.append(one)
    for i in range(len(x)):
        two = x[i] * torch.ones(2)
        extended += [two, two + 1, two]
    for i in range(len(x)):
        three = x[i] * torch.ones(2)
        pairs.append((three, i, three))
    for i in range(len(x)):
        four = x[i] * torch.ones(2)
        rows.append([four, four if i % 2 else four + 1])
    for i in range(len(x)):
        five = x[i] * torch.ones(2)
        nested.append((five, (five, i)))
    return plain, extended, pairs, rows, nested, three


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(seed % 3 + 1, generator=g).requires_grad_(seed == 1),)
