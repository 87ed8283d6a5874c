"""Program 9000334: warning: <fuzzed program 12462.84>:8: batched code and loop gave different results, the loop is kept (values['result']: requires_grad False instead of True)"""

import torch


def program(y, values_m):
    m = len(y)
    kept3 = values_m.clone()
    for i in range(m):
        if i <= 1:
            z1 = values_m[i]
            steps2 = 0
            kept3[i] = steps2
    return kept3


SIZES = [(5, 3), (2, 5), (3, 0), (1, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    y = torch.randn(m + m, generator=g).as_strided((m, m), (1, 1))
    values_m = (torch.randn(m, generator=g) * 2).round() / 2
    values_m.requires_grad_(seed != 2)
    return (y, values_m)
