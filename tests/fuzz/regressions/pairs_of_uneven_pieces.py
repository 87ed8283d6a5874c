"""Program 25042313: result[2]: 420 instead of 432  [seed 0]"""

import torch


def program(uneven):
    count5 = 0
    for piece0 in uneven:
        sum0 = piece0.mean()
        for piece1 in uneven:
            sum1 = piece1.mean()
            v7 = sum1
            if v7 >= 2:
                continue
            count5 += 2
    return (count5,)


SIZES = [(6, 2), (3, 3), (0, 3), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    uneven = [(torch.randn(1 + (r * 5 + seed) % 3, generator=g) * 2).round() / 2 for r in range(n)]
    return (uneven,)
