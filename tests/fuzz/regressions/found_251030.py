"""Program 251030: gradient 3: there instead of none  [seed 4]"""

import torch


def program(x, y, rows, numbers):
    n = y.shape[0]
    m = x.shape[0]
    out1 = torch.full((m,), 0.5, dtype=torch.float32)
    for i in range(0, 1, 3):
        for j in range(2, 1, -1):
            if x[j, i] < 1.0:
                break
            out1[j] = sum([numbers[q] if numbers[q] == 0.5 else rows[q][j] for q in range(n)])
    return out1


SIZES = [(3, 4), (7, 4), (1, 4), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m + n, generator=g).as_strided((m, n), (1, 1))
    y = (torch.randn(n, generator=g) * 2).round() / 2
    rows = [torch.randn(m, generator=g) for _ in range(n)]
    for row in rows:
        row.requires_grad_()
    numbers = ((torch.randn(n, generator=g) * 2).round() / 2).to(torch.float64).tolist()
    return (x, y, rows, numbers)
