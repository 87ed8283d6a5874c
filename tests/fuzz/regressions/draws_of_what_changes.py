"""Numbers are drawn of what the loop changes by another name, or in a function."""

import torch


def program(p, n):
    first = []
    for i in range(n):
        first.append(torch.bernoulli(p[i]))
        row = p[i + 1]
        row[0] = 0.2
    second = torch.zeros(n, 2)
    for i in range(n):
        second[i] = torch.bernoulli(p[i])
        halve(p, i + 1)
    same = p
    third = []
    for i in range(n):
        third.append(torch.bernoulli(p[i]))
        same[i + 1] = same[i + 1] * 0.5
    return first, second, third


def halve(values, place):
    values[place] = values[place] * 0.5


def arguments(seed):
    n = [5, 1, 0, 3][seed % 4]
    return torch.rand(n + 1, 2, generator=torch.Generator().manual_seed(seed)), n
