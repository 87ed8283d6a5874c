# precision: double
"""Program 4000463: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [torch.Dou  [seed 0]"""

import torch


def program(y, pairs, starts_nm, ends_nm, values_m):
    scaled1 = 1.0
    scaled5 = values_m
    for row0 in y:
        scaled1 = scaled1 * row0
    for s0, d0 in pairs:
        scaled5[starts_nm[s0] : ends_nm[s0]] *= values_m[starts_nm[s0] : ends_nm[s0]]
        scaled1 *= 0.5
    return (scaled1,)


SIZES = [(5, 3, 2), (5, 2, 1), (3, 0, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(n, generator=g).to(torch.float64)
    y.requires_grad_(seed != 2)
    pairs = [(r * 3 % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]
    starts_nm = torch.randint(0, max(m + 1, 1), (n,), generator=g).to(torch.int64)
    ends_nm = torch.clip(starts_nm + torch.randint(0, max(m + 1, 1), (n,), generator=g).to(torch.int64) // 2, 0, m)
    values_m = torch.randn(m, generator=g).to(torch.float64)
    return (y, pairs, starts_nm, ends_nm, values_m)
