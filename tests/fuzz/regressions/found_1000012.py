"""Program 1000012: result[1][3]: np.float64(2.0) instead of np.float64(0.5) at ()  [seed 0]"""

import torch


def program(x, rows, n, starts_nn, ends_nn):
    m = x.shape[1]
    kept1 = torch.zeros((n,), dtype=torch.float32)
    kept5 = []
    state7 = 1.0
    out8 = torch.zeros((m,), dtype=torch.float32)
    for i in range(n):
        v9 = (rows[i] * x[n - 1 - i]).sum() - sum([x[i, p] for p in range(m)])
        inner6 = 0.5
        for c10 in range(starts_nn[i], ends_nn[i]):
            inner6 = max(inner6, float(v9.item()))
        kept5.append(inner6)
        if i >= 3 or i >= 1:
            continue
        state7 = state7 / (abs(1.5) + 1) * state7 + i
    return (kept1, kept5, state7, out8)


SIZES = [(5, 3), (5, 2), (1, 3), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = (torch.randn(n, m, generator=g) * 2).round() / 2
    y = ((torch.randn(m + 1, m, generator=g) * 2).round() / 2)[1:]
    y.requires_grad_(seed != 2)
    near = [
        torch.randint(0, max(m, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if m else []
        for r in range(n)
    ]
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    rows = [(torch.randn(m, generator=g) * 2).round() / 2 for _ in range(n)]
    numbers = torch.randn(m, generator=g).to(torch.float64).tolist()
    pairs = [(r * 3 % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]
    starts_nn = torch.randint(0, max(n + 1, 1), (n,), generator=g).to(torch.int64)
    ends_nn = torch.clip(starts_nn + torch.randint(0, max(n + 1, 1), (n,), generator=g).to(torch.int64) // 2, 0, n)
    starts_nn, ends_nn = (starts_nn.tolist(), ends_nn.tolist())
    return (x, rows, n, starts_nn, ends_nn)
