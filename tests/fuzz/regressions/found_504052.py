"""Program 504052: result: Tensor tensor(3.) instead of float 3.0  [seed 0]"""

import torch


def program(x):
    n = x.shape[0]
    sum_of1 = 0.0
    for i in range(n):
        if i != 2:
            sum_of1 = max(sum_of1, float(x[1].mean()))
        sum_of1 = sum_of1 + bool(x[i,].sum() > 0)
    return sum_of1


SIZES = [(3, 4, 2), (5, 2, 1), (1, 1, 1), (0, 3, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    return (x,)
