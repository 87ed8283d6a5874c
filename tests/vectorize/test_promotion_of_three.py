"""The dtype of an operation of three operands: all tensors with dimensions come first, whatever their order."""

import itertools

import pytest
import torch

from looplift import lift
from looplift.ir.facts import Kind
from looplift.vectorize.nodes import common_dtype

DTYPES = (torch.bool, torch.int32, torch.int64, torch.bfloat16, torch.float32, torch.float64, torch.complex64)


def test_as_torch():
    tensors = [torch.ones((1,) * rank, dtype=dtype) for dtype in DTYPES for rank in (0, 1)]
    for operands in itertools.product(tensors, tensors, tensors):
        try:
            wanted = torch.addcmul(*operands).dtype
        except RuntimeError:
            continue
        assert common_dtype([Kind("tensor", one.dtype, one.dim()) for one in operands]) == wanted, operands


def by_rows(scales, weights, table):
    return torch.stack([scales[i].addcmul(table[i], weights, value=0.5) for i in range(len(table))])


def by_row_into(scales, weights, table):
    out = torch.zeros(table.shape, dtype=weights.dtype)
    for i in range(len(table)):
        out[i] = torch.addcdiv(scales[i], weights, table[i])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("loop", [by_rows, by_row_into])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_integers_between_floats(loop, dtype, backend):
    values = torch.rand(4, dtype=torch.float64), torch.rand(3, dtype=dtype), torch.randint(1, 4, (4, 3))
    found, wanted = lift(loop, verify="off", backend=backend)(*values), loop(*values)
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted)
