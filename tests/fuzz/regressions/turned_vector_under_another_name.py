# precision: double
"""Program 1000005624: warning: <fuzzed program 13936.645>:11: batched code and loop gave different results, the loop is kept (values['one']: the same object as values['result'][1] instead of"""

import numpy as np
import torch


def program(x, one, two, rounds):
    t, s, k = (x[0] * 0.5, x[0], 0)
    a = one
    b = np.ones(6, dtype=np.float64)
    c, d = (a, b)
    for i in range(len(x)):
        d = a if x[i] > -1 else d
        for k in range(3):
            d = a.T
            c = d
            a[-1] = b[k] * 0.5 + t
            c = b if i % 2 == 0 else d
        t += x[i]
    return (c, d)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn([6, 3, 1, 0][seed % 4], generator=g, dtype=torch.float64)
    one, two = torch.randn(2, 6, generator=g, dtype=torch.float64)
    two = one if seed == 3 and True else two
    x, one, two = (x.numpy(), one.numpy(), two.numpy())
    return (x, one, two, 2)
