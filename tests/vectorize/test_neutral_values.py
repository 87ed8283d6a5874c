"""Masked extremes of unsigned integers and of truth values, and Python's ``max`` and ``min`` beside NaN."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends

NAN = float("nan")


def least(x, m, best):
    best = best.copy()
    for i in range(x.shape[0]):
        if m[i]:
            best = np.minimum(best, x[i])
    return best


def greatest(x, m, best):
    best = best.copy()
    for i in range(x.shape[0]):
        if m[i]:
            best = np.maximum(best, x[i])
    return best


def least_tensor(x, m, best):
    best = best.clone()
    for i in range(x.shape[0]):
        if m[i]:
            best = torch.minimum(best, x[i])
    return best


def greatest_tensor(x, m, best):
    best = best.clone()
    for i in range(x.shape[0]):
        if m[i]:
            best = torch.maximum(best, x[i])
    return best


@pytest.mark.parametrize("function", [least, greatest])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64, np.bool_])
def test_masked_extremes_of_arrays(function, dtype):
    top = True if dtype is np.bool_ else np.iinfo(dtype).max
    x = np.full((4, 2), top, dtype)
    x[1] = 0
    x[3] = top // 2
    mask = np.array([True, False, True, False])
    check_backends(
        function, [x, mask, x[0].copy()], [x, mask, x[3].copy()], kept={"torch"} if dtype is np.bool_ else None
    )


@pytest.mark.parametrize("function", [least_tensor, greatest_tensor])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64, torch.bool])
def test_masked_extremes_of_tensors(function, dtype):
    top = True if dtype is torch.bool else torch.iinfo(dtype).max
    x = torch.full((4, 2), top, dtype=dtype)
    mask = torch.tensor([True, False, True, False])
    check_backends(function, [x, mask, x[0].clone()], [x, mask, torch.zeros(2, dtype=dtype)])


def value_first(x, b):
    for i in range(x.shape[0]):
        b = max(x[i].item(), b)
    return b


def value_behind(x, b):
    for i in range(x.shape[0]):
        b = min(b, x[i].item())
    return b


def by_turns(x, b):
    for i in range(x.shape[0]):
        b = min(x[i].item(), b) if i % 2 else min(b, 2 * x[i].item())
    return b


def one_value(x, b):
    v = x[0].item()
    for _ in range(x.shape[0]):
        b = min(v, b)
    return b


@pytest.mark.parametrize("function", [value_first, value_behind, by_turns, one_value])
def test_extremes_of_numbers_beside_nan(function):
    plain, spoiled = torch.tensor([0.5, 0.25, 1.0]), torch.tensor([NAN, 0.25, 1.0])
    check_backends(function, [plain, 0.75])
    check_backends(function, [plain, NAN], [spoiled, 0.75], [spoiled.flip(0), 0.75], [plain[:0], 1.0], kept={"torch"})


def stored_first(out, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] = min(x[i, j], out[i])
    return out


def stored_behind(out, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] = max(out[i], x[i, j])
    return out


def scattered_first(out, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            k = (i + 2 * j) % 3
            out[k] = max(x[i, j], out[k])
    return out


def made_here(out, x):
    low = torch.full((x.shape[0],), 9.0)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            low[i] = min(x[i, j], low[i])
    return low


@pytest.mark.parametrize("function", [stored_first, stored_behind, scattered_first, made_here])
def test_stored_extremes_beside_nan(function):
    x = torch.rand(3, 4)
    check_backends(function, [torch.tensor([0.2, 0.5, 0.9]), x])
    spoiled = x.clone()
    spoiled[1, 2] = spoiled[2, 0] = NAN
    calls = [[torch.tensor([NAN, 0.5, 0.9]), x], [torch.full((3,), NAN), spoiled], [torch.rand(3), spoiled]]
    check_backends(function, *calls, kept={"torch", "auto"})


def test_stored_extremes_of_arrays():
    x = np.random.default_rng(0).random((2, 3))
    check_backends(stored_behind, [np.array([NAN, 0.5]), x], [np.zeros(2), x])
    check_backends(stored_first_of_arrays, [np.array([NAN, 0.5]), x], [np.ones(2), x], kept={"torch"})


def stored_first_of_arrays(out, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] = min(x[i, j], out[i])
    return out
