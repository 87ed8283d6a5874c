"""Slices of one width that walk by a step which is known when the loop runs: views, and pooling."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def means(x, k: int):
    count, height, width = x.shape
    out = torch.zeros(count, height // k, width // k, dtype=x.dtype)
    for b in range(count):
        for i in range(height // k):
            for j in range(width // k):
                out[b, i, j] = x[b, i * k : (i + 1) * k, j * k : (j + 1) * k].mean()
    return out


def maxima(x, k: int):
    count, height, width = x.shape
    out = torch.zeros(count, height // k, width // k, dtype=x.dtype)
    for b in range(count):
        for i in range(height // k):
            for j in range(width // k):
                out[b, i, j] = x[b, i * k : (i + 1) * k, j * k : (j + 1) * k].max()
    return out


def strided(x, w, s: int):
    k = w.shape[0]
    rows, columns = (x.shape[0] - k) // s + 1, (x.shape[1] - k) // s + 1
    out = torch.zeros(rows, columns)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = (x[i * s : i * s + k, j * s : j * s + k] * w).sum()
    return out


def strided_means(x, k: int, s: int):
    out = []
    for i in range((x.shape[0] - k) // s + 1):
        row = []
        for j in range((x.shape[1] - k) // s + 1):
            row.append(torch.mean(x[i * s : i * s + k, j * s : j * s + k]))
        out.append(torch.stack(row))
    return torch.stack(out)


def heads(x, w, count: int):
    width = x.shape[1] // count
    q = x @ w
    return torch.cat([q[:, k * width : (k + 1) * width].softmax(-1) for k in range(count)], dim=1)


def patches(x, p: int):
    out = []
    for i in range(x.shape[1] // p):
        for j in range(x.shape[2] // p):
            out.append(x[:, i * p : (i + 1) * p, j * p : (j + 1) * p].reshape(-1))
    return torch.stack(out)


def cut_off(x, k: int, s: int):
    out = []
    for i in range(4):
        for j in range(3):
            out.append(x[i * s : i * s + k, j * s : j * s + k].sum())
    return torch.stack(out)


def of_one_loop(x, k: int):
    return torch.stack([x[i * k : (i + 1) * k, i * k : (i + 1) * k].trace() for i in range(x.shape[0] // k)])


def beside_the_diagonal(x, k: int):
    total = torch.zeros(())
    for i in range(x.shape[0] // k):
        for j in range(x.shape[0] // k):
            if i != j:
                total = total + x[i * k : (i + 1) * k, j * k : (j + 1) * k].pow(2).sum()
    return total


def in_place(x, k: int):
    for i in range(x.shape[0] // k):
        for j in range(x.shape[1] // k):
            x[i * k : (i + 1) * k, j * k : (j + 1) * k] *= 2
    return x


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).mul(3).to(dtype)


CASES = [
    (means, [numbers(2, 6, 8), 2]),
    (means, [numbers(2, 7, 8, dtype=torch.float64), 3]),
    (maxima, [numbers(2, 6, 8), 2]),
    (maxima, [torch.ones(2, 4, 4), 2]),
    (maxima, [numbers(2, 6, 8, dtype=torch.int64), 2]),
    (maxima, [numbers(2, 6, 8, dtype=torch.float16), 2]),
    (maxima, [numbers(6, 2, 8).permute(1, 0, 2), 2]),
    (strided, [numbers(7, 9), numbers(3, 3, seed=1), 2]),
    (strided_means, [numbers(7, 9), 3, 1]),
    (strided_means, [numbers(7, 9), 3, 2]),
    (heads, [numbers(3, 6), numbers(6, 6, seed=1), 2]),
    (patches, [numbers(3, 4, 6), 2]),
    (of_one_loop, [numbers(6, 6), 2]),
    (beside_the_diagonal, [numbers(6, 6), 2]),
    (heads, [numbers(3, 7), numbers(7, 7, seed=1), 2]),
    (heads, [numbers(3, 6), numbers(6, 4, seed=1), 3]),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_windows_are_those_of_the_loop(function, arguments):
    check(function, arguments, decisions={"lanes"})


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (cut_off, [numbers(7, 9), 3, 2]),
        (maxima, [numbers(2, 3, 4), 5]),
        (maxima, [numbers(0, 4, 4), 2]),
    ],
)
def test_what_a_view_does_not_reach_is_left_to_the_loop(function, arguments):
    assert torch.allclose(lift(function, verify="off", backend="torch")(*arguments), function(*arguments))


def test_what_is_changed_in_place_is_read_as_it_was():
    check(in_place, [numbers(6, 6), 3], gradients=False)


def test_values_that_are_not_numbers_are_the_greatest():
    x = numbers(2, 6, 8)
    x[0, 1, 1], x[1, 3, 3] = float("nan"), float("-inf")
    check(maxima, [x, 2], gradients=False, decisions={"lanes"})


def test_a_step_of_zero_raises_what_the_loop_raises():
    with pytest.raises(ZeroDivisionError):
        lift(maxima)(numbers(2, 3, 4), 0)


@pytest.mark.parametrize(("function", "name"), [(means, '"mean"'), (maxima, '"max"')])
def test_folds_of_windows_are_pooling(function, name):
    lifted = lift(function, verify="off", backend="torch")
    lifted(numbers(2, 6, 8), 2)
    assert f"pooled(x, {name}" in lifted.source


def test_arrays_of_numpy_have_windows_too():
    def pieces(x, k):
        return np.array([x[:, j * k : (j + 1) * k].sum() for j in range(x.shape[1] // k)])

    check(pieces, [np.arange(24.0).reshape(4, 6), 2])
