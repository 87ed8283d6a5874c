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


def numbers_and_rows(out, rows, x, row):
    for i in range(len(x)):
        out[i] += x[i]
        rows[i] = row


def numbers_and_a_column(out, rows, x):
    for i in range(len(x)):
        out[i] += x[i]
        rows[i, 3] = x[i] * 2


def places_that_wrap(square, x):
    for i in range(len(x)):
        square[i - 3, i - 3] += x[i]


def after_a_loop_that_stays(out, other, x):
    for i in range(x.shape[0]):
        h = torch.zeros(())
        for t in range(x.shape[1]):
            h = torch.tanh(h * 1.5 + x[i, t])
        out[i] += h
        other[i] = h * 2


def two_arrays(out, other, x):
    for i in range(len(x)):
        out[i] += x[i]
        other[i] = x[i] * 2


def sizes_of_what_was_written(z, x, bounds):
    for i in range(len(x)):
        z[i] = z[i] * 2 + x[i]
    rows = torch.softmax(z / 0.5, 0)
    total = 0.0
    for j in range(rows.shape[0]):
        total += rows[j] * bounds[j]
    return total
