# precision: exact
"""An item that is not there is an IndexError, though nothing reads a part of it."""

import torch


def program(labels, names, pairs, lists):
    total = 0
    for i in range(len(labels)):
        name = names[labels[i]]
        pair = pairs[int(labels[i])]
        numbers = lists[int(labels[i])]
        total += i
    return total


def arguments(seed):
    labels = torch.randint(0, 3, (seed % 4 + 1,), generator=torch.Generator().manual_seed(seed))
    return labels, ["a", "b"], [(1, 2), (3, 4)], [[1], [2, 3]]
