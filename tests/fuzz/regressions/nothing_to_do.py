"""After no iteration the total is a Python integer and the list is empty; then stacking raises."""

import torch


def program(x):
    total = 0
    items = []
    last = None
    for i in range(x.shape[0]):
        total = total + x[i]
        items.append(x[i] * 2)
        last = i
    return total, last, torch.stack(items) if last != 0 else items


def arguments(seed):
    return (torch.arange(float(max(0, 3 - seed))),)
