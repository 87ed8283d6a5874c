"""A row that is multiplied in place is needed as it was by the backward pass, also where a tensor says which it is."""

import itertools

import torch


def program(x, y, heads_nn, tails_nn):
    n = x.shape[1]
    m = len(x)
    ends1 = torch.zeros((max(n, 1), m), dtype=torch.float32)
    for i, ii in itertools.product(range(n), range(m)):
        for j in range(m - 1):
            if 0 <= ii <= 1.5 or y[ii, ii] < y[j, j]:
                ends1[heads_nn[i]] *= y[ii] / 3
            else:
                ends1[heads_nn[i]] = ends1[heads_nn[i]] * 1
                ends1[tails_nn[i]] += y[ii - 1, :] + x[:, i - 1]
    return ends1


SIZES = [(3, 4), (2, 5), (2, 1), (1, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(m, n, generator=g)
    x.requires_grad_(seed != 2)
    y = ((torch.randn(m + 1, m, generator=g) * 2).round() / 2)[1:]
    y.requires_grad_(seed != 2)
    heads_nn = torch.randint(0, max(max(n, 1), 1), (n,), generator=g).to(torch.int64)
    tails_nn = torch.randint(0, max(max(n, 1), 1), (n,), generator=g).to(torch.int64).tolist()
    return (x, y, heads_nn, tails_nn)
