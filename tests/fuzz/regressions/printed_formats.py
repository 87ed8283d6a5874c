"""Numbers are printed by formats, sums as the loop adds them up, tensors with the name of their gradient."""

import torch


def program(x):
    out = torch.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        out[i] = x[i].exp().sum()
        print(f'{i} it\'s "so" {x[i, 0].item():.2f} {{b}}')
    for i in range(len(x)):
        total += x[i, 0].item()
        print(f"{total:.3f}", x[i, 1])
    return out, total


def arguments(seed):
    x = torch.randn([4, 1, 3, 2, 7][seed % 5], 3, generator=torch.Generator().manual_seed(seed))
    return (x.requires_grad_(seed % 2 == 0),)
