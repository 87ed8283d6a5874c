"""What a loop put last into a list of tuples or dicts, or into a dict, is the object that a name holds after it."""

import torch


def program(x):
    pairs, lists, dicts, table = [], [], [], {}
    for i in range(len(x)):
        one = x[i] * 1.0
        pairs.append((one, i))
    for i in range(len(x)):
        two = x[i] * 2.0
        lists.append([i, two, two])
    for i in range(len(x)):
        three = x[i] * 3.0
        dicts.append({"a": three, "b": i})
    for i in range(len(x)):
        four = x[i] * 4.0
        table[i] = four
    return pairs, one, lists, two, dicts, three, table, four, table[0]


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(seed % 3 + 1, 2, generator=g).requires_grad_(seed == 1),)
