"""`torch.max(a[0] * 2, f(a))` read `a` after the function had changed it, `(a * 2).dot(f(a))` and `clamp` did too."""

import torch


def program(a, log):
    for k in range(3):
        log.append(k)
        log.append(torch.max(a[0] * 2.0, shifted(a)))
        log.append((a * 2.0).dot(a + shifted(a)))
        log.append((a[0] * 2.0).clamp(max=step(a)))
    return log


def shifted(a):
    a[0] += 1.0
    return a[1] * 3.0


def step(a):
    a[0] += 1.0
    return 4.0


def arguments(seed):
    return torch.randn(2 + seed % 3, generator=torch.Generator().manual_seed(seed)), []
