"""Reads by index tensors, single numbers, slices and new dimensions, in every order; torch and NumPy differ in some."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check

from looplift import lift

READS = """x[i, a[i]];
x[a[i], i]; x[:, i, a[i]]; x[i, :, a[i]]; x[i, :, :, a[i]]; x[a[i], :, b[i]]; x[a[i], :, :, b[i]];
x[i, a[i], :, b[i]]; x[0, :, a[i]]; x[0, a[i], :, b[i]]; x[a[i], 0, :, b[i]]; x[a[i, 0], :, b[i]]; x[:, a[i, 0], b[i]];
x[:, :, i, a[i]]; x[:, :, a[i], i]; x[a[i], b[i], i]; x[i + 0, a[i], None]; x[None, i, a[i]]; x[a[i], None, b[i]];
x[i][:, a[i], b[i]]; x[i][a[i], :, b[i]]; x[i][0, a[i], b[i]]; x[i][:, 0, a[i]]; x[i][a[i]]; x[:, a[i]][i];
x[a[i][:, None], b[i][None, :]]; x[i, a[i][:, None], b[i]]; x[a[0], i]; x[i, a[0], b[0]]; x[:, i, 1:3, a[i]];
x[1:3, i, :, a[i]]; x[a[i], ..., b[i]]; x[..., a[i]]; x[i, ..., a[i]]; x[-1 - i, a[i]]; x[3 - i][a[i]]; x[i % 2, a[i]];
x[i, -1, a[i]]; x[None, a[i], i]; x[:, None, i, a[i]]; x[i, None]; x[None, :, i]; x[:, i, None]; x[a[i] - 4];
x[[0, 2], a[i][:2]]; x[i, [0, 1]]; x[[0, 1]][:, i]; x[[1, i]]; x[i - 1]; x[i - 4]; x[:, i - 2, a[i]]"""


@pytest.mark.parametrize("library", ["torch", "np"])
@pytest.mark.parametrize("expression", [text.strip() for text in READS.split(";")])
def test_a_read_in_lanes_is_that_of_the_loop(expression, library):
    random = np.random.default_rng(3)
    values = [random.normal(size=(4, 5, 6, 4)), random.integers(0, 4, (4, 3)), random.integers(0, 4, (4, 3))]
    if library == "torch":
        values = [torch.from_numpy(value) for value in values]
    loop = appended(expression, "4", {"torch": torch, "np": np}, join=f"{library}.stack")
    check(loop, values, gradients=library == "torch")


def test_a_stack_of_rows_is_memory_of_its_own():
    def stacked(x):
        rows = []
        for i in range(len(x)):
            rows.append(x[i])
        return torch.stack(rows)

    def listed(x):
        return torch.stack([row.float() for row in x])

    for loop in (stacked, listed):
        check(loop, [torch.randn(4, 3)])


def test_the_first_dimension_is_new():
    def first_rows(x, n):
        return torch.stack([x[None, i] for i in range(n)])

    check(first_rows, [torch.randn(5, 3), 5], [torch.randn(5, 3), 2])


def test_boxes_whose_width_is_known_when_the_loop_runs():
    def pooled(x, k):
        rows, columns = x.shape[0] // k, x.shape[1] // k
        out, place = torch.zeros(rows, columns, dtype=x.dtype), torch.zeros(rows, columns, dtype=torch.long)
        for i in range(rows):
            for j in range(columns):
                window = x[i * k : (i + 1) * k, j * k : (j + 1) * k]
                out[i, j] = window.max() + window.mean()
                place[i, j] = window.argmax()
        return out, place

    def strided(x, k, stride):
        rows, columns = (x.shape[0] - k) // stride + 1, (x.shape[1] - k) // stride + 1
        out = torch.zeros(rows, columns, dtype=x.dtype)
        for i in range(rows):
            for j in range(columns):
                top, left = i * stride, j * stride
                out[i, j] = x[top : top + k, left : left + k].sum()
        return out

    sizes = [torch.randn(7, 9, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)]
    check(pooled, *([x, 2] for x in sizes))
    check(strided, *([x, 3, 2] for x in sizes))


def test_a_box_that_is_cut_off_runs_as_the_loop():
    def cut(x, k):
        out = torch.zeros(4, 4, dtype=x.dtype)
        for i in range(4):
            for j in range(4):
                out[i, j] = x[i * k : (i + 1) * k, j * k : (j + 1) * k].sum()
        return out

    for k in (2, 0, -1, 5):
        x = torch.randn(8, 8, dtype=torch.float64)
        torch.testing.assert_close(lift(cut, verify="off", backend="torch")(x, k), cut(x, k))


def test_pieces_of_a_row_of_which_the_last_is_shorter():
    def pieces(x, size):
        out = []
        for i in range(len(x) // size + 1):
            out.append(x[i * size : (i + 1) * size].sum())
        return torch.stack(out)

    check(pieces, [torch.randn(9, dtype=torch.float64), 4], [torch.randn(8, dtype=torch.float64), 3])
