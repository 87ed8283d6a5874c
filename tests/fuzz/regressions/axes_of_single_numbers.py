"""Program 20004494: warning: <fuzzed program 19276.244>:6: batched code and loop gave different results, the loop is kept (values['result'][0]: -1.3851714134216309 instead of 0.0)"""

import torch


def program(sx, n):
    out = []
    for i in range(n):
        out.append(torch.special.log_softmax(sx[i], -1))
    return out


SIZES = [(4, 3), (2, 1), (4, 3), (3, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    sx = (torch.randn(n, generator=g, dtype=torch.float64).abs() + 0.1).to(torch.float32)
    return (sx, n)
