# precision: double
"""What a list holds several times changed unseen."""

import torch


class Box:
    def __init__(self, a, b):
        self.a = a
        self.b = b


def help(p, r):
    p += r


def same(p):
    return p


def pick(p, r, y):
    if y > 0:
        return p
    return r


def program(x, one, two, m, xs):
    a = one
    ys = [a] * 3
    q = m
    c = a
    for i in range(len(x)):
        a[:] = ys[1] * q[:, 2][1] * 0.5
        c[0] = x[i]
    return q, c


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn([6, 3, 1, 0][seed % 4], generator=g, dtype=torch.float64)
    one, two = torch.randn(2, 6, generator=g, dtype=torch.float64)
    m = torch.randn(3, 6, generator=g, dtype=torch.float64)
    two = one if seed == 3 else two
    xs = [torch.randn(6, generator=g, dtype=torch.float64) for _ in range(3)]
    return x, one, two, m, xs
