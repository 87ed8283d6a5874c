"""Program 1101860: result[0]: np.float32(1.0537369) instead of np.float32(0.0) at (3,)  [seed 0]"""

import torch


def program(x, near):
    n = x.shape[1]
    m = x.shape[0]
    kept3 = torch.zeros((n,))
    filled4 = [[0.0] * n for _ in range(m)]
    state5 = 1.0
    for i in range(n):
        v6 = state5 * (state5 * state5)
        for row1 in x:
            if 0 <= row1[i // 2] <= 1.5:
                state5 = 0.9 * state5 + 0.1 * v6
            elif (row1 > 0.25).all():
                mine1 = []
                for e2 in range(m):
                    if e2 % 2 == 1:
                        mine1.append((x[e2, i] + x[e2, n - 1 - i]))
                if not not mine1:
                    kept3[i] = torch.stack(mine1).mean(0)
            else:
                v7 = (row1 // 2).detach()
                pass
            mine1 = []
            for e2 in range(m):
                if row1[i] >= row1[-i - 1]:
                    mine1.append(row1[i] + v6)
            if not not mine1:
                kept3[i] = mine1[0]
    return kept3, [filled4[m - 1 - q][n - 1 - r] for q in range(m) for r in range(n)], state5


SIZES = [(6, 2), (3, 3), (0, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, 2 * n, generator=g)[:, 1::2]
    x.requires_grad_(seed != 2)
    near = [[(5 * r + k) % m for k in range((r * 7 + 1) % 4)] if m else [] for r in range(n)]
    return (
        x,
        near,
    )
