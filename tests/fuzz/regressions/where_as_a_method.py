"""`x.where(condition, y)`: the first operand of the method is not the first of the function."""

import torch


def program(square, k, f, n, m):
    out = torch.zeros((n, m, m), dtype=torch.float32)
    for i in range(n):
        out[i] = k[i].where(square[i], f[i])
    return out


SIZES = [(4, 3), (5, 3), (5, 3), (4, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    square = torch.randint(
        1,
        5,
        (
            n,
            m,
            m,
        ),
        generator=g,
    ).to(torch.uint8)
    k = torch.randint(
        0,
        2,
        (
            n,
            m,
        ),
        generator=g,
    ).bool()
    f = [0.5 + 0.75 * r - 0.1 * seed for r in range(n)]
    return (
        square,
        k,
        f,
        n,
        m,
    )
