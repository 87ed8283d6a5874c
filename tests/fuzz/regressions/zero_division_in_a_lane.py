"""The fourth iteration divides a Python number by zero, after three stores."""

import torch


def program(out):
    for i in range(out.shape[0]):
        out[i] = 6 / (3 - i)
    return out


def arguments(seed):
    return (torch.zeros(2 + seed),)
