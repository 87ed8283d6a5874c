"""A test by NumPy of a tensor of bytes gives bytes, where PyTorch's own gives truths."""

import numpy as np
import torch


def program(x, y, k, m, w, p, q):
    n = len(x)
    found = []
    t = 0
    for i in range(n):
        t = x[i]
        t = t + (m[i].sort()[0][1]) if i > 1 else t
        found.append(t)
    for i in range(n):
        for j in range(3):
            found.append((np.isnan(k[i])))
    return found, t


def arguments(seed):
    g = np.random.RandomState(seed)
    n = [7, 4, 1, 0][seed % 4]
    special = False

    def numbers(count, kind):
        if kind.startswith("float") or kind == "bfloat16":
            one = g.randn(count).round(1 if seed % 2 else 6)
            for k in range(count):
                if special and g.rand() < 0.25:
                    one[k] = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 0.5)[g.randint(7)]
            return torch.from_numpy(one).to(getattr(torch, kind))
        if kind == "bool":
            return torch.from_numpy(g.rand(count) < 0.5)
        low, high = torch.iinfo(getattr(torch, kind)).min, torch.iinfo(getattr(torch, kind)).max
        one = [int(g.randint(0 if low == 0 else -4, 6)) for _ in range(count)]
        for k in range(count):
            if special and g.rand() < 0.2:
                one[k] = (low, high, high - 1, low + 1, 0)[g.randint(5)]
        return torch.tensor(one, dtype=getattr(torch, kind))

    x, y, k = numbers(n, "int64"), numbers(n, "int16"), numbers(n, "uint8")
    m = numbers(3 * n, "int64").reshape(n, 3)
    w = numbers(4, "int16")
    pass
    return x, y, k, m, w, torch.tensor([2.0]), torch.tensor(2)
