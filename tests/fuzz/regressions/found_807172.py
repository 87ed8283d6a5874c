"""Program 807172: gradient 0: np.float64(nan) instead of np.float64(0.0) at (0,)  [seed 4]"""

import torch


def program(v, n):
    out = []
    for i in range(n):
        if v[i] > 0:
            out.append(v[i].arccos())
    return out


SIZES = [(4, 3), (2, 4), (0, 3), (3, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    v = torch.randn(n, generator=g, dtype=torch.float64).to(torch.float64)
    v.requires_grad_()
    return (v, n)
