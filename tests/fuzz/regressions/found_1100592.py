# precision: double
"""Program 1100592: exception: none instead of IndexError('index 2 is out of bounds for axis 1 with size 2')  [seed 1]"""

import numpy as np


def program(x, y, idx, near, pairs):
    n = idx.shape[0]
    m = x.shape[1]
    kept3 = np.full((n,), 2, dtype=np.float64)
    for i in range(n):
        mine1 = []
        for e2 in near[i]:
            mine1.append(x[(i + 1) % n, max(e2 - 1, 0)])
        if not not mine1:
            kept3[i] = len(mine1)
    return kept3


SIZES = [(3, 4), (5, 2), (1, 4), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = (
        np.round(
            g.normal(
                size=(
                    n,
                    m,
                )
            )
            * 2
        )
        / 2
    ).astype(np.float64)
    if seed % 5 == 4:
        x = np.asfortranarray(x)
    y = g.normal(
        size=(
            m + 1,
            m,
        )
    ).astype(np.float64)[1:]
    idx = g.integers(0, max(min(m, 2), 1), size=(n,)).astype(np.int64)
    near = [
        g.integers(0, max(n, 1), size=((r * 7 + seed) % 4,)).astype(np.int64).tolist() if n else [] for r in range(n)
    ]
    pairs = [((r * 3) % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]
    return (
        x,
        y,
        idx,
        near,
        pairs,
    )
