"""`x[i, 0]` took the name of `x` in a point that reads `x[i]` as well."""

import collections

import torch


def program(labels, x, names, table, counts):
    out, seen, heap, recent = [], set(), [], collections.deque(maxlen=3)
    groups, total, text = collections.defaultdict(list), 0.0, ""
    last, best, tail, k = None, None, None, 0
    held, buffer = torch.zeros(3), torch.zeros(5)
    marks = torch.zeros(9, dtype=torch.bool)
    tallies = torch.zeros(9, dtype=torch.int16)
    weights = torch.zeros(9, dtype=torch.float64)
    for i in range(len(labels) - 1, -1, -1):
        k = labels[i].item()
        tail = x[i] * 2
        total += x[i, 0] * 0.3
        recent.append(k)
    return (
        out,
        sorted(map(str, seen)),
        heap,
        list(recent),
        dict(groups),
        total,
        last,
        best,
        text,
        tail,
        held,
        buffer,
        k,
        marks,
        tallies,
        weights,
    )


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [40, 0, 7, 60][seed % 4]
    labels, x = torch.randint(0, 9, (n,), generator=g).to(torch.int64), torch.randn(n, 3, generator=g)
    return labels, x, [f"s{k}" for k in range(n)], {}, [0] * 9
