"""Program 7785: result: np.complex64(-1.84602+0j) instead of np.complex64(-1.2061824+0j) at (0,)  [seed 4]"""

import torch


def program(x, y):
    m = y.shape[0]
    hidden1 = x
    for i in range(m):
        for j, row1 in enumerate(hidden1):
            hidden1 = hidden1 if i == 2 else hidden1 if abs(row1) > 0.75 else x
            hidden1 = torch.exp(hidden1)
    return hidden1


SIZES = [(3, 4), (7, 4), (2, 2), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, generator=g).to(torch.complex64).expand(n)
    y = torch.randn(m + 1, m, generator=g).to(torch.complex64)[1:]
    return (x, y)
