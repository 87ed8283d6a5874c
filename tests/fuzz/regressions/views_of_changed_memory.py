"""Program 80001504: exception: RuntimeError('A view was created in no_grad mode and its base or another view of its base has been modified inplace with (at snapshot.py:140) instead of none  [seed 4]"""

import torch


def program(x, scale):
    n = x.shape[0]
    out2 = torch.zeros((n,), dtype=torch.float32)
    out3 = torch.ones((n,))
    for row0 in out2:
        for j in range(n):
            out2[j] = scale
            out3[j] = float(row0) + out2[j]


SIZES = [(3, 4), (2, 5), (1, 4), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.float64)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    return (x, scale)
