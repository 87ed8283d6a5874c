"""Whether an operation works in place is told by each iteration: a tensor of one of them would be taken for that."""

import torch


def program(w, v, n):
    out = []
    for i in range(n):
        out.append(torch.nn.functional.silu(w, v[i].item()))
    return out


SIZES = [(4, 3), (3, 3), (1, 2), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    w = (torch.randn(m, generator=g, dtype=torch.float64).abs() + 0.1).to(torch.bfloat16)
    v = torch.randint(0, 2, (n,), generator=g).bool()
    return (w, v, n)
