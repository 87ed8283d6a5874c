"""Narrow whole numbers of a row are divided by tensors of one number as PyTorch divides them: not cut to their type."""

import pytest
import torch

from looplift import lift


def shares(rows, k):
    out = torch.zeros(rows.shape)
    for i in range(len(rows)):
        out[i] = rows[i] / (k * 1) + out[i - 1]
    return out


def angles(rows, k):
    out = torch.zeros(rows.shape)
    for i in range(len(rows)):
        out[i] = torch.atan2(k, rows[i]) + out[i - 1]
    return out


def norm(rows, bounds):
    for i in range(len(bounds) - 1):
        part = rows[bounds[i] : bounds[i + 1]]
        rows[bounds[i] : bounds[i + 1]] = part / part.sum() * 100
    return rows


def within(rows, k):
    out = torch.zeros(rows.shape, dtype=torch.int64)
    for i in range(len(rows)):
        out[i] = (rows[i] < k) * 1 + torch.maximum(rows[i], k) + rows[i] * k + out[i - 1]
    return out


NARROW = (torch.uint8, torch.int8, torch.int16)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("function", [shares, angles, within], ids=lambda one: one.__name__)
def test_a_tensor_beside_narrow_whole_numbers(function, dtype, backend):
    lifted = lift(function, backend=backend, verify="off")
    for k in (3, 300, -1, 70_000):
        rows = torch.tensor([[100, 120], [90, 30], [7, 1]], dtype=dtype)
        expected = function(rows, torch.tensor(k))
        result = lifted(rows, torch.tensor(k))
        assert result.dtype == expected.dtype
        torch.testing.assert_close(result, expected, rtol=2e-7, atol=0)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_rows_over_their_sums(dtype, backend):
    rows = torch.tensor([0, 40, 80, 120, 110, 100], dtype=dtype)
    result = lift(norm, backend=backend, verify="off")(rows.clone(), [0, 2, 5, 6])
    assert result.dtype == dtype
    assert result.tolist() == norm(rows, [0, 2, 5, 6]).tolist()
