"""Program 70344: result[0]: np.float32(-1.0529132) instead of np.float32(-1.1154132) at ()  [seed 0]"""

import torch


def program(twin, uneven):
    n = len(twin)
    m = twin.shape[1]
    total1 = 1.0
    out2 = torch.zeros((m,))
    for i in range(n):
        for entry1 in uneven[i]:
            number4 = entry1.item()
            v6 = number4 - out2.norm()
            total1 -= v6
        total1 = 0.5 * total1
    return (total1,)


SIZES = [(4, 3), (5, 2), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, m, generator=g)
    twin = x[:]
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    uneven = [(torch.randn(1 + (r * 5 + seed) % 3, generator=g) * 2).round() / 2 for r in range(n)]
    return (twin, uneven)
