"""A part of a list of numbers came back as a number."""

import torch


def program(x, near, edges, w, u):
    out = []
    for rows, lists in zip(x, near):
        values = []
        for one in lists:
            values.append(float(len(one)))
        values = values[1:]
        for row, value in zip(rows, values):
            out.append(row * w * value)
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    number = lambda low, high: int(torch.randint(low, high, (), generator=g))
    sizes = [[3, 1, 4], [2, 2], [5, 1, 2, 1], []][seed % 4]
    x = [torch.randn(n, 3, generator=g).requires_grad_(seed in (0, 1, 2, 3, 4, 5)) for n in sizes]
    near = [[[number(0, n) for _ in range(number(0, 4))] for _ in range(n)] for n in sizes]
    edges = [[(number(0, n), number(0, n)) for _ in range(number(1, 5) if n else 0)] for n in sizes]
    if seed == 5 and x:
        near[0] = [[], [], [], []]
    w, u = torch.randn(3, generator=g), torch.randn(3, 3, generator=g)
    return x, near, edges, w.requires_grad_(seed != 1), u.requires_grad_(seed == 2)
