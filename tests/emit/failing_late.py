"""Loops that write into an array of the caller, and of which a later iteration may fail by what it reads."""

import torch


def sums_beside_a_store(out, x, y, idx):
    s = 0.0
    for i in range(len(x)):
        out[i] = x[i] * 2
        s = s + y[idx[i]]
    return s


def two_stores(out, other, x, y, idx):
    for i in range(len(x)):
        out[i] = x[i] * 2
        other[i] = x[i] + y[idx[i]]


def a_store_that_is_read(out, x, y, idx):
    s = torch.zeros(())
    for i in range(len(x)):
        out[i] += x[i]
        s = s + out[i] * y[idx[i]]
    return s


def added_at_strides(out, x, y, idx, step):
    s = 0.0
    for i in range(len(x)):
        out[i * step] += x[i]
        s = s + y[idx[i]]
    return s


def on_the_diagonal(square, x, y, idx):
    s = 0.0
    for i in range(len(x)):
        square[i, i] = x[i]
        s = s + y[idx[i]]
    return s


def rows_of_five(out, x):
    for i in range(0, len(out) // 5 * 5, 5):
        out[i] += x[i]
        out[i + 1] += x[i + 1] * 2
        out[i + 4] = x[i + 4]
