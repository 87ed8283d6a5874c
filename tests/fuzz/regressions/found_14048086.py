"""Program 14048086: gradient of result 1 by anything: there is none  [seed 1]"""

import torch


def program(x, idx, k):
    n = x.shape[0]
    bins1 = x.clone()
    kept4 = torch.zeros((n,), dtype=torch.float32)
    for i in range(k):
        for j in range(0, n, 2):
            v5 = bins1.square().cummax(0)[0]
            v6 = v5
            z2 = x[j]
            steps3 = 0
            while z2 > 0.2 and steps3 < 5:
                if v6[j] != 2.0:
                    z2 = z2 + 0.2
                else:
                    z2 = z2 * 0.5
                steps3 += 1
            kept4[j] += z2
            bins1[idx[j]] = 0.25
    return (bins1, kept4)


SIZES = [(4, 3, 2), (7, 4, 2), (3, 0, 2), (3, 0, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    x.requires_grad_(seed != 2)
    idx = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (x, idx, k)
