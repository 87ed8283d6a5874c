# precision: double
"""Program 1000003745: result[0][0]: 2700000000000 instead of 0  [seed 0]"""

import torch


def program(x, y, z, w, ids, m):
    out, d, n = ([], {}, 0)
    c = torch.zeros(len(x) + 1, dtype=torch.int8)
    for k in range(len(x)):
        s = max(m, y[k])
        r = s * x[k]
        out.append(int(r * 100))
    return (out, d, n, c)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.uint8)
    y = (torch.rand(n, generator=g, dtype=torch.float64) * 1).to(torch.int64)
    ids = [(20000001, 7, 3000000007, 16777217, 2**53 + 1, 4, -1)[(seed + k) % 1] for k in range(n)]
    return (x, y, 0.29, 49.0, ids, 3000000000)
