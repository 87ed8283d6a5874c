"""Program 6006204: warning: <fuzzed program 30141.204>:10: batched code and loop gave different results, the loop is kept (values['result'][0]: requires_grad False instead of True)"""

import torch


def program(y):
    n = y.shape[0]
    m = y.shape[1]
    grid1 = torch.ones((n, m), dtype=torch.float32)
    grid2 = torch.zeros((m, n), dtype=torch.float32)
    for i in range(2, -1, -1):
        grid1[:, i] = grid2[i,]
        grid2[i] = y[:, i]
    return (grid1,)


SIZES = [(3, 4), (7, 4), (1, 3), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, generator=g)
    y = torch.randn(n, m, generator=g)
    y.requires_grad_(seed != 2)
    return (y,)
