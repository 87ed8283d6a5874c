# precision: double
import itertools

import torch


def program(xs, rows, t):
    total = 0.0
    for i in range(t.shape[0]):
        if isinstance(xs[t[i]], torch.Tensor):
            total += 100
        else:
            total += xs[t[i]]
    for i in range(t.shape[0]):
        row = rows[t[i]]
        for a, b in itertools.product(row, row):
            row[0] = row[0] + 1
            total = total * 0.5 + a * b
    return total


def arguments(seed):
    rows = [[0.25 * seed, 2.0], [3.0, -1.0], [0.5, 4.0]]
    return [0.5, 1.5, -2.0], rows, torch.randint(0, 3, (4,), generator=torch.Generator().manual_seed(seed))
