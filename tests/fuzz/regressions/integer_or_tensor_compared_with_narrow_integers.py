# precision: double
"""Program 1000008530: result[2]: 9 instead of 0  [seed 0]"""

import torch


def program(x, y, z, w, ids, m):
    out, d, n = ([], {}, 0)
    c = torch.zeros(len(x) + 1, dtype=torch.float16)
    for k in range(len(x)):
        if k % 3 == 0:
            s = 3000000001
        else:
            s = y[k]
        r = (k + 1) / x[k]
        if x[k] < s:
            n += 3
    return (out, d, n, c)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.int32)
    y = (torch.rand(n, generator=g, dtype=torch.float64) * 9).to(torch.float64)
    ids = [(20000001, 7, 3000000007, 16777217, 2**53 + 1, 4, 0)[(seed + k) % 2] for k in range(n)]
    return (x, y, 0.29, 49.0, ids, 3000000000)
