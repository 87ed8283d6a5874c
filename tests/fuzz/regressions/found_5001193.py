"""Program 5001193: result: Tensor tensor(-0.2852, dtype=torch.bfloat16) instead of float -0.284301485003061  [seed 2]"""

import itertools

import torch


def program(x, steps, m):
    n = steps.shape[0]
    state1 = 0
    for i in itertools.product(range(m), range(m)):
        for j in range(n):
            state1 = x[j]
        state1 = 0.9 * state1
    return state1


SIZES = [(6, 2), (7, 4), (0, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(2 * n, generator=g).to(torch.bfloat16)[::2]
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int64)
    return (x, steps, m)
