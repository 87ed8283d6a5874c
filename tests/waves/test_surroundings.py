"""Loops that fill containers made around them are no waves: what these hold must be tensors, whatever fails."""

from collections import defaultdict

import torch

import looplift


def grouped(keys, x):
    groups = defaultdict(list)
    for i, k in enumerate(keys):
        groups[k].append(x[i])
    return {k: torch.stack(v).mean(0) for k, v in groups.items()}


def named(keys, x):
    found = {}
    for i, k in enumerate(keys):
        rows = found.setdefault(k, [])
        rows.append(torch.tanh(x[i]))
    return {k: sum(v) for k, v in found.items()}


def test_groups():
    for program in (grouped, named):
        for sizes in ((1, 1, 1, 1), (5, 1, 2), (0, 3, 1)):
            lifted = looplift.lift(program)
            for n in sizes:
                keys, x = [k % 3 for k in range(n)], torch.randn(n, 4)
                for gradients in (False, True):
                    x.requires_grad_(gradients)
                    got, wanted = lifted(keys, x), program(keys, x)
                    assert got.keys() == wanted.keys()
                    torch.testing.assert_close(got, wanted)
