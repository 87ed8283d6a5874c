"""Program 80002057: result[1]: float 18.0 instead of int 18  [seed 3]"""

import torch


def program(x, y, mask, m):
    n = mask.shape[0]
    state1 = (0.0, 0)
    for left0, right0 in zip(x, y):
        for j in range(m):
            p2, q3 = state1
            state1 = (p2, p2)
        p2, q3 = state1
        state1 = (p2, q3 * sum([left0 for s in range(n) if y[s] == 0.0]))
    return state1


SIZES = [(6, 2), (2, 5), (0, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n + 1, generator=g) * 2).round() / 2)[1:]
    y = torch.randn(n, generator=g)
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    return (x, y, mask, m)
