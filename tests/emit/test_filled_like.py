"""``torch.ones_like`` and its like of one number, in kernels."""

import pytest
import torch

import looplift
from looplift.base.compare import difference


def floors(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        s = torch.full_like(x[i], 0.25)
        for _ in range(6):
            if s > x[i]:
                break
            s = torch.ones_like(s) if s > 0.9 else s * 1.5
        out[i] = s - torch.zeros_like(s, dtype=torch.float64)
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_kernel_fills_numbers(dtype):
    lifted = looplift.lift(floors, backend="native", verify="off")
    for n in (1, 2, 40, 0):
        x = 2 * torch.rand(n, generator=torch.Generator().manual_seed(n)).to(dtype)
        assert difference(lifted(x), floors(x), magnitude=2) is None
    assert {loop.decision for loop in lifted.report().loops} == {"native"}, str(lifted.report())


def rounded(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = torch.full_like(x[i], 3.7) if x[i] < 2 else torch.full_like(x[i], True)
    return out


def test_numbers_of_another_kind():
    lifted = looplift.lift(rounded, backend="native", verify="off")
    x = torch.arange(5)
    assert difference(lifted(x), rounded(x), magnitude=2) is None
