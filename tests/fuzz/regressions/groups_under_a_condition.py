"""Program 16002880: result: np.float32(0.2065711) instead of np.float32(-0.2934289) at (0,)  [seed 0]"""

import torch


def program(x, y, n, labels_nn):
    copied3 = x.clone()
    for i in range(n):
        if y[i] < x[i]:
            copied3[labels_nn == i] += 0.5
    return copied3


SIZES = [(4, 4), (2, 5), (2, 1), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + 1, generator=g)[1:]
    y = torch.randn(n, generator=g)
    labels_nn = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (x, y, n, labels_nn)
