"""Sums of slices times weights, as convolutions. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def filtered(x, w):
    out = torch.zeros(x.shape[0] - 2, x.shape[1] - 2, dtype=x.dtype)
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 2):
            out[i, j] = (x[i : i + 3, j : j + 3] * w).sum()
    return out


def layer(x, w, b, s: int):
    k = w.shape[2]
    rows, columns = (x.shape[2] - k) // s + 1, (x.shape[3] - k) // s + 1
    out = torch.zeros(x.shape[0], w.shape[0], rows, columns)
    for n in range(x.shape[0]):
        for o in range(w.shape[0]):
            for i in range(rows):
                for j in range(columns):
                    out[n, o, i, j] = (x[n, :, i * s : i * s + k, j * s : j * s + k] * w[o]).sum() + b[o]
    return out


def by_channel(x, w, s: int):
    k = w.shape[-1]
    rows, columns = (x.shape[1] - k) // s + 1, (x.shape[2] - k) // s + 1
    out = torch.zeros(x.shape[0], rows, columns)
    for c in range(x.shape[0]):
        for i in range(rows):
            for j in range(columns):
                out[c, i, j] = torch.sum(x[c, i * s : i * s + k, j * s : j * s + k] * w[c])
    return out


def around(x, w):
    p = w.shape[0] // 2
    out = torch.zeros_like(x)
    for i in range(p, x.shape[0] - p):
        for j in range(p, x.shape[1] - p):
            total = 0.0
            for a in range(w.shape[0]):
                for b in range(w.shape[0]):
                    total = total + x[i + a - p, j + b - p] * w[a, b]
            out[i, j] = total
    return out


def template(x, w):
    rows, columns = w.shape
    out = torch.zeros(x.shape[0] - rows + 1, x.shape[1] - columns + 1)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            part = x[i : i + rows, j : j + columns]
            out[i, j] = (part * w).sum() / part.norm()
    return out


def in_place(x, w):
    for i in range(4):
        for j in range(4):
            x[i, j] = (x[i : i + 3, j : j + 3] * w).sum()
    return x


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (filtered, [numbers(6, 7), numbers(3, 3, seed=1)]),
        (filtered, [numbers(6, 7, dtype=torch.float64), numbers(3, 3, seed=1, dtype=torch.float64)]),
        (layer, [numbers(2, 3, 7, 8), numbers(4, 3, 3, 3, seed=1), numbers(4), 2]),
        (layer, [numbers(2, 3, 7, 8), numbers(4, 1, 3, 3, seed=1), numbers(4), 1]),
        (by_channel, [numbers(3, 7, 8), numbers(3, 3, 3, seed=1), 2]),
        (around, [numbers(7, 8), numbers(3, 3, seed=1)]),
        (template, [numbers(6, 7), numbers(2, 3, seed=1)]),
    ],
)
def test_sums_of_windows_are_convolutions(function, arguments):
    check(function, arguments, decisions={"lanes"})
    lifted = lift(function, verify="off", backend="torch")
    lifted(*arguments)
    assert "convolution(" in lifted.source


@pytest.mark.parametrize(
    "weights",
    [numbers(1, 3, seed=1), numbers(3, seed=1), numbers(1, 1, seed=1), torch.tensor(2.0), numbers(2, 3, 3, seed=1)],
)
def test_weights_are_repeated_as_a_product_repeats_them(weights):
    check(filtered, [numbers(6, 7), weights], decisions={"lanes"})


def test_what_is_not_finite_stays_in_its_windows():
    x = numbers(9, 9)
    x[1, 1], x[6, 6] = float("nan"), float("inf")
    check(filtered, [x, numbers(3, 3, seed=1)], gradients=False, decisions={"lanes"})


def test_integers_and_several_types_are_as_before():
    check(filtered, [torch.arange(42).view(6, 7), torch.arange(9).view(3, 3)], decisions={"lanes"})
    check(filtered, [numbers(6, 7), numbers(3, 3, dtype=torch.float64)], gradients=False, decisions={"lanes"})


def test_what_the_loop_writes_is_read_by_it():
    check(in_place, [numbers(6, 7), numbers(3, 3, seed=1)], gradients=False, decisions={"kept"})


def test_weights_of_another_size_raise_what_the_loop_raises():
    with pytest.raises(RuntimeError, match="must match the size"):
        lift(filtered)(numbers(6, 7), numbers(2, 2))
    with pytest.raises(RuntimeError, match="must match the size"):
        lift(by_channel)(numbers(3, 7, 8), numbers(3, 2, 3), 2)
