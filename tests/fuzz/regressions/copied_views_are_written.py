# precision: double
"""Program 9094: warning: <fuzzed program 15645.94>:9: batched code and loop gave different results, the loop is kept (the loop raises RuntimeError: A view was created in no_grad mode an"""

import torch


def program(x, twin, steps):
    n = steps.shape[0]
    i = 1
    for j in range(n):
        twin[j] = x[i][j]


SIZES = [(3, 4), (5, 2), (0, 0), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m + n, generator=g).to(torch.float64).as_strided((m, n), (1, 1))
    x.requires_grad_(seed != 2)
    base = torch.randn(n + 1, generator=g).to(torch.float64)
    y = base[:-1]
    twin = y[:]
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int8)
    return (x, twin, steps)
