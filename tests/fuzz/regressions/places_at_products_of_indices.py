"""The product of two indices is no multiple of one of them."""

import torch


def program(x, n):
    out, squares, total = torch.zeros(n, n), [], 0
    for i in range(1, n):
        for j in range(1, n):
            if i * j < len(x):
                out[i, j] = x[i * j] * 2
        squares.append(x[i * i : i * i + 2].sum())
    for i in range(0, n * 2**33, 2**33):
        total += i * i % 1000
    return out, squares, total


def arguments(seed):
    return torch.arange(40.0) + seed, 5
