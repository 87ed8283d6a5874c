"""Program 20003439: warning: <fuzzed program 17376.189>:11: batched code and loop gave different results, the loop is kept (values['items1'][2]: requires_grad False instead of True)"""

import torch


def program(x, m):
    items1 = []
    for i in range(m):
        for j, row1 in enumerate(x):
            if j == 0:
                pass
            items1.append(x[j,])
    return (items1,)


SIZES = [(6, 2), (2, 5), (2, 2), (0, 0)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n, m, generator=g) * 2).round() / 2).to(torch.bfloat16).t()
    x.requires_grad_(seed != 2)
    return (x, m)
