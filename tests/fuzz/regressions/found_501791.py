"""Program 501791: gradient: raised RuntimeError('one of the variables needed for gradient computation has been modified by an inplace operation: [CPUComple  [seed 0]"""

import torch


def program(x, idx):
    n = idx.shape[0]
    m = x.shape[0]
    bins2 = torch.zeros((m, m), dtype=torch.complex64)
    total3 = torch.zeros((), dtype=torch.complex64)
    for i in range(n):
        bins2[idx[i]] = x[:, i]
        for j in range(m):
            v4 = x[idx[i],] + bins2[j, j]
            total3 = total3 + v4
    return (total3,)


SIZES = [(6, 2), (7, 4), (0, 0), (3, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g).to(torch.complex64)
    x.requires_grad_(seed != 2)
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (x, idx)
