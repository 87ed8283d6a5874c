"""What a carried value is divided by is zero, or to a power complex, as long as it is a number of Python's."""

import torch


def program(x, start):
    state, other = start, start
    for i in range(x.shape[0]):
        other = x[i].abs() + other / 2
    for i in range(x.shape[0]):
        state = x[i].abs() + state / state
    return state, other


def arguments(seed):
    return (torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)), [0.0, 2.0, 0, -1.5, 1][seed])
