"""A condition that holds only in rows without entries stores nothing, and nothing asks for gradients."""

import torch


def program(x, near, values_m, labels_nn):
    n = x.shape[0]
    scaled3 = values_m
    kept5 = (n,)
    out8 = torch.zeros_like(x)
    for i in range(n):
        for j in near[i]:
            v9 = x.square()
            members6 = x[labels_nn < i]
            if len(members6) != 0:
                continue
            out8[i] = v9[i]
    return (out8,)


SIZES = [(4, 4), (2, 5), (3, 0), (2, 2)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = ((torch.randn(n + 1, generator=g) * 2).round() / 2)[1:]
    x.requires_grad_(seed != 2)
    idx = torch.randint(0, max(min(n, 2), 1), (n,), generator=g).to(torch.int64).tolist()
    near = [
        torch.randint(0, max(m, 1), ((r * 7 + seed) % 4,), generator=g).to(torch.int64).tolist() if m else []
        for r in range(n)
    ]
    mask = torch.randint(0, max(2, 1), (n,), generator=g).to(torch.int64).bool()
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float32)
    starts_nm = torch.sort(torch.randint(0, max(m + 1, 1), (n,), generator=g).to(torch.int64))[0]
    values_m = torch.randn(1, generator=g).expand(m)
    labels_nn = torch.randint(0, max(n, 1), (n,), generator=g).to(torch.int64)
    return (x, near, values_m, labels_nn)
