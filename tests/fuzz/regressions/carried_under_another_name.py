# precision: double
"""What a loop carries under another name changed unseen."""

import torch


def program(x, one, two, rounds):
    total = 0.0
    for r in range(rounds):
        t, s, k = x[0] * 0.5, x[0], 0
        a = one
        b = torch.ones(6, dtype=torch.float64)
        c, d = a, b
        for i in range(len(x)):
            t = s
            c = c.real
            a[-1] += c.sum() * 0.25
            s = t.type_as(t)
        total = total + a[1] + 2 * b[2] + 3 * c[3] + d[5]
    return total


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn([6, 3, 1, 0][seed % 4], generator=g, dtype=torch.float64)
    one, two = torch.randn(2, 6, generator=g, dtype=torch.float64)
    two = one if seed == 3 and True else two
    x, one, two = x, one, two
    return x, one, two, 2
