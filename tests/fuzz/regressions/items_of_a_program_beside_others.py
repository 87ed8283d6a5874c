"""Items of a list that a program has changed are stacked: not each of them takes all that the program takes."""

import torch


def program(x, cube, scale, n, head_mn, tail_mn):
    m = cube.shape[1]
    k = cube.shape[2]
    held1 = []
    for r3 in range(n):
        held1.append(x[r3] * 2)
    times2 = [0 for _ in range(n)]
    for i in range(m):
        for j in range(k - 1, -1, -1):
            v5 = x[..., min(i + 1, m - 1)] - cube[:, (i + 1) % m, j] - (x[:, i] if i < 0.25 else x[:, i])
    for i in range(0, m, 2):
        v10 = sum((scale for u in range(n)))
        for j, left1, right1 in zip(range(n), x, x):
            if j >= n - 1:
                held1[head_mn[i]] = 0.5 * held1[head_mn[i]] - (left1 - v10)
                times2[head_mn[i]] += 2
        held1[tail_mn[i]] = torch.maximum(
            held1[tail_mn[i]], held1[tail_mn[i]] * 0 + torch.zeros((m,), dtype=torch.float32)
        )
    return [r3.sum() for r3 in held1]


SIZES = [(4, 4, 3), (5, 2, 1), (1, 1, 1), (2, 2, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    x.requires_grad_(seed != 2)
    cube = torch.randn(n, m, k, generator=g)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    scale.requires_grad_()
    head_mn = torch.randint(0, max(n, 1), (m,), generator=g).to(torch.int64)
    tail_mn = torch.randint(0, max(n, 1), (m,), generator=g).to(torch.int64).tolist()
    return (x, cube, scale, n, head_mn, tail_mn)
