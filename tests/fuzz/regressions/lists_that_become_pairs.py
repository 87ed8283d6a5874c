"""A list of the caller's is replaced by a pair of itself and a tensor after its first use."""

import torch


def program(x, edges, w):
    out = torch.zeros(x.shape[0], w.shape[0])
    for i in range(x.shape[0]):
        near = [b for a, b in edges if a == i]
        if not near:
            continue
        for j in near:
            edges = [edges, out]
            out[i] += w @ x[j]
    return out, len(edges)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    edges = [[(0, 1), (0, 2), (1, 0), (3, 3)], [(0, 1), (1, 2)], [(0, 0)], []][seed % 4]
    return torch.randn([4, 3, 1, 2][seed % 4], 3, generator=g), edges, torch.randn(2, 3, generator=g).requires_grad_()
