"""Gradients through the direction of nothing, which is steep: in single precision all their digits are lost."""

import torch
import torch.nn.functional as F


def fold(tree, table, weight, classes):
    if isinstance(tree, int):
        return F.embedding(classes[tree], table)
    a = fold(tree[0], table, weight, classes)
    b = fold(tree[1], table, weight, classes)
    return F.normalize(a - b, dim=0)


def program(trees, table, weight, classes):
    out = []
    for tree in trees:
        out.append(fold(tree, table, weight, classes))
    return sum((one.sum() for one in out))


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    trees = [((0, 1), (2, (3, 0))), 1, (2, 3), (((0, 0), (1, 1)), ((2, 2), 3))]
    classes = torch.randint(0, 5 if seed % 2 else 4, (4,), generator=g)
    table, weight = (torch.randn(4, 4, generator=g), torch.randn(4, 8, generator=g))
    return (trees, table.requires_grad_(seed != 2), weight.requires_grad_(seed != 1), classes)
