"""Program 11002649: result[0]: np.float32(0.9907237) instead of np.float32(1.2691789) at (0,)  [seed 0, no_grad]"""

import torch


def program(x, n):
    out = []
    for i in range(n):
        out.append(torch.nn.functional.silu(x[i], 1))
    return out


SIZES = [(4, 3), (1, 2), (5, 3), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g, dtype=torch.float64).to(torch.float32)
    x.requires_grad_()
    return (x, n)
