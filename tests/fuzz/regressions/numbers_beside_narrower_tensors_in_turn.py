"""One step's number stays Python's, of 64 bits, and decides when a loop ends; the others become float32, one by one."""

import torch


def program(y, m, values):
    kept = torch.zeros((m,), dtype=torch.float32)
    for i in range(m):
        v = 1.5 * torch.norm(y)
        z = values[i].item()
        steps = 0
        while abs(z) > 0.1 and steps < 5:
            if i >= 1:
                z = z * 0.5 + v
                y[:] = y
            else:
                for _ in range(len(kept)):
                    z = z - 0.3
            steps += 1
        kept[i] += z * steps
    return kept


def arguments(seed):
    n, m = [(5, 3), (5, 2), (1, 1), (1, 4)][seed % 4]
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(n, generator=g) * 2).round() / 2, m, torch.tensor([0.4, -0.5, 1.0, 0.7])[:m]
