"""What torch's cells and norms do with a row, or with several, as functions that a typed program reads.

Each is the formula of its class in torch's documentation, in the order in which torch computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


def gru(x, h, w, u, b, c):
    r, z, new = functional.linear(x, w, b).chunk(3, -1)
    r_of_h, z_of_h, new_of_h = functional.linear(h, u, c).chunk(3, -1)
    new = torch.tanh(new + torch.sigmoid(r + r_of_h) * new_of_h)
    return new + torch.sigmoid(z + z_of_h) * (h - new)


def lstm(x, state, w, u, b, c):
    h, cell = state
    put, kept, made, shown = (functional.linear(x, w, b) + functional.linear(h, u, c)).chunk(4, -1)
    cell = torch.sigmoid(kept) * cell + torch.sigmoid(put) * torch.tanh(made)
    return torch.sigmoid(shown) * torch.tanh(cell), cell


def rnn_tanh(x, h, w, u, b, c):
    return torch.tanh(functional.linear(x, w, b) + functional.linear(h, u, c))


def rnn_relu(x, h, w, u, b, c):
    return torch.relu(functional.linear(x, w, b) + functional.linear(h, u, c))


def layer_norm(x, w, b, eps):
    away = x - x.mean(-1, keepdim=True)
    return away / torch.sqrt((away * away).mean(-1, keepdim=True) + eps) * w + b


def layer_norm_without_bias(x, w, eps):
    away = x - x.mean(-1, keepdim=True)
    return away / torch.sqrt((away * away).mean(-1, keepdim=True) + eps) * w


def cosine_similarity(x, y, eps):
    of_x, of_y = x.norm(), y.norm()
    assert of_x > eps and of_y > eps and eps >= 0.0
    return (x / of_x * (y / of_y)).sum()


CELLS: dict[type, Callable[[Any], Callable]] = {
    nn.GRUCell: lambda cell: gru,
    nn.LSTMCell: lambda cell: lstm,
    nn.RNNCell: lambda cell: {"tanh": rnn_tanh, "relu": rnn_relu}[cell.nonlinearity],
}
"""The step of a cell."""
