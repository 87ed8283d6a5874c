"""Program 900141: result: requires_grad True instead of False  [seed 3]"""

import torch


def program(x, starts_nm, ends_nm):
    n = x.shape[1]
    kept1 = torch.zeros((n,))
    for i in range(n):
        inner2 = 0.5
        for c3 in range(starts_nm[i], ends_nm[i]):
            inner2 = x[c3][-i]
        kept1[i] = inner2
    return kept1


SIZES = [(5, 3), (5, 2), (0, 3), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g)
    x.requires_grad_(seed != 2)
    starts_nm = torch.sort(torch.randint(0, max(m + 1, 1), (n,), generator=g).to(torch.int64))[0]
    ends_nm = torch.cat((starts_nm[1:], starts_nm[-1:]))
    return (x, starts_nm, ends_nm)
