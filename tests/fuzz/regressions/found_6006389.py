"""Program 6006389: warning: <fuzzed program 30159.139>:10: batched code and loop gave different results, the loop is kept (values['result']: np.float64(0.0) instead of float32 np.float32(0"""

import numpy as np


def program(x, steps, scale, m):
    n = x.shape[0]
    run1 = 0
    trace2 = []
    for i in range(n):
        run1 = x[i] * run1 + sum([steps[i] for z in range(m) if scale < 0.25])
        trace2.append(run1)


SIZES = [(3, 4), (3, 3), (1, 1), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n,)).astype(np.float32)
    steps = g.integers(0, max(5, 1), size=(n,)).astype(np.int32)
    scale = np.float32(0.5 + seed)
    return (x, steps, scale, m)
