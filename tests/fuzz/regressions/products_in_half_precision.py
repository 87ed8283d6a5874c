"""A product of rows in half precision is not rounded at each step: sums of ones would stop at 256."""

import torch


def program(x, y):
    out, held = torch.zeros(x.shape[0], dtype=torch.float64), torch.ones(x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.dot(x[i], y[i])
    for i in range(x.shape[0]):
        held = held * (torch.dot(x[i], held) > 2000)
    return out, held


def arguments(seed):
    dtype = (torch.bfloat16, torch.float16, torch.float32)[seed % 3]
    return torch.ones(3, 3000, dtype=dtype), torch.ones(3, 3000, dtype=dtype)
