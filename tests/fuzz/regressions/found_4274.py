"""A row of an array, which is another live-in of an inner loop that writes to the array."""

import torch


def helper(a, b):
    c = a / (abs(2) + 1)
    return c * a


def program(x, scale):
    n = x.shape[0]
    m = x.shape[1]
    best1 = float("-inf")
    place2 = -1
    count3 = 0
    grid4 = torch.zeros((n, n), dtype=torch.float32)
    for i, row0 in enumerate(grid4):
        v5 = helper(row0[i], row0[i]) if i == 2 else 3
        for j in range(m - 1, -1, -1):
            if j % 2 == 1 and i < n - 1:
                if (row0 > 0.0).any():
                    count3 += 2
            else:
                c6 = abs(abs(v5))
                if c6 >= best1:
                    best1 = c6
                    place2 = i
            grid4[i, i] = sum([scale for w in range(m)])
    return best1, place2, count3, grid4


SIZES = [(4, 4), (5, 2), (0, 3), (1, 4)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    y = (torch.randn(m, m, generator=g) * 2).round() / 2
    steps = torch.randint(0, max(5, 1), (n,), generator=g).to(torch.int32)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    return (x, scale)
