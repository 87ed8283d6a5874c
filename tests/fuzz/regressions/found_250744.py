"""Program 250744: warning: <fuzzed program 20694.0>:18: batched code and loop gave different results, the loop is kept (values['result'][1]: 0 instead of tuple (0, 0, 0))"""

import torch


def program(x, idx, pairs):
    n = idx.shape[0]
    m = x.shape[0]
    grid1 = torch.ones((n, m))
    best2 = float("-inf")
    for s0, d0 in pairs:
        v4 = torch.clamp(grid1[s0 % n], 0.5, 0.5)
        for j in range(d0, m):
            v5 = grid1[:, j]
            v6 = x[-1,].amax()
            for l in range(1, 1):
                c7 = v4[idx[l]] - v5[l]
                place3 = s0
            c10 = sum([v5[q] for q in range(n)])
            if c10 > best2:
                place3 = (j,)
    return (place3,)


SIZES = [(4, 3), (7, 4), (1, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m + n, generator=g).as_strided((m, n), (1, 1))
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    pairs = [(r * 3 % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]
    return (x, idx, pairs)
