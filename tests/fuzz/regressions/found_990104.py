"""Program 990104: warning: <fuzzed program 26402.219>:6: batched code and loop gave different results, the loop is kept (values['result']: 6 of 36 elements differ, the first at (0, 1, 0):"""

import torch


def program(square, n, m):
    out = torch.ones((n, m, m), dtype=torch.bool)
    for i in range(n):
        if i == 0:
            out[i] = torch.signbit(square[i])
    return out


SIZES = [(4, 3), (2, 1), (0, 3), (2, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    square = torch.randint(-3, 5, (n, m, m), generator=g).to(torch.int64)
    return (square, n, m)
