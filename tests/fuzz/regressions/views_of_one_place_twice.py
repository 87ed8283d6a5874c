"""Two views of one element that were put into a dict were one object."""

import torch


def program(a, n):
    out, memo, mode = ([], {}, "up")
    x, y = (torch.zeros(n), a)
    for k in range(2):
        memo[k,] = x[1]
    return list(memo.values())


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [4, 1, 2, 6][seed % 4]
    made = lambda *size: torch.randn(*size, generator=g)
    a, b, w, c = (made(n + 1), made(n + 1), made(3), made(n + 1))
    return (a, n)
