"""Program 60524: result[0]: np.float32(2.0) instead of np.float32(3.5) at (1,)  [seed 4]"""

import torch


def program(x, idx):
    n = idx.shape[0]
    sums1 = torch.zeros((n,))
    for row0 in x:
        v3 = row0.amax()
        for j, row1 in enumerate(x):
            v4 = v3 if (x[j] > 1).any() else torch.sigmoid(v3)
            v4 += 1
            if v3 == 1:
                continue
            sums1 += x[j]
    return (sums1,)


SIZES = [(4, 4), (2, 5), (2, 2), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(m, n, generator=g) * 2).round() / 2
    idx = torch.randint(0, max(m, 1), (n,), generator=g).to(torch.int64)
    return (x, idx)
