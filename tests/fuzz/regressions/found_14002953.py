"""Program 14002953: gradient 0: np.float32(15.644718) instead of np.float32(10.444716) at (0, 0)  [seed 4]"""

import numpy as np
import torch


def program(x, n, into_bins):
    m = x.shape[0]
    scaled1 = 1.0
    bins2 = torch.zeros((m,), dtype=torch.float32)
    kept5 = []
    for i in range(n):
        for j, jj in np.ndindex(m, n):
            bins2[into_bins[i]] += x[j,].min()
            scaled1 = scaled1 * x[j, i] ** 2
    return (bins2, kept5)


SIZES = [(4, 4), (5, 2), (1, 3), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g).t()
    x.requires_grad_(seed != 2)
    into_bins = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64).tolist()
    return (x, n, into_bins)
