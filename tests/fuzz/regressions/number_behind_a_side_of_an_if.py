"""A sum that two inner loops begin behind an `if` around a term of it: nothing is added, so it stays a float."""

import itertools

import torch


def program(x, y, idx, scale, bonus, values_n):
    m = x.shape[0]
    paid1 = 0.0
    bins2 = values_n
    state3 = torch.zeros((1,), dtype=torch.float16)
    for i in idx:
        if bins2[i] == scale:
            paid1 += bonus[i]
        for j, jj in itertools.product(range(m), range(m)):
            if bins2[i] < y[j][jj]:
                continue
            v4 = x[j].detach()
            if i == 1:
                paid1 += bonus[i]
            state3 = y[j,] - state3
    return (paid1,)


SIZES = [(4, 3), (7, 4), (1, 1), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, 2 * n, generator=g).to(torch.float16)[:, 1::2]
    y = torch.randn(m, m, generator=g).to(torch.float16)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    scale = 0.3 - 0.2 * seed
    bonus = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float16)
    values_n = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float16)
    return (x, y, idx, scale, bonus, values_n)
