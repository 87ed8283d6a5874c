"""The last view that a loop makes is a view of the caller's tensor, whichever way the loop goes through that."""

import torch


def program(x, places):
    total = 0.0
    turned = kept = gathered = column = x[0]
    for i in range(len(x) - 1, -1, -1):
        turned = x[i]
        total = total + turned.sum()
    for i in range(len(x)):
        kept = x[-1 - i].detach()
    for i in range(len(places)):
        gathered = x[places[i]].view(-1)
        total = total + gathered.sum()
    for row in x.unbind(0):
        total = total + row.sum()
    for pair in x.split(2):
        total = total + pair.sum()
    return total, turned, kept, gathered, row, pair


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = seed + 1
    return (torch.randn(n, 3, generator=g, dtype=torch.float64), torch.randint(0, n, (n,), generator=g))
