"""Shifts of tensors' and arrays' integers in kernels."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def mixed(x, bits):
    found = 0
    for i in range(len(x)):
        found = found ^ int((x[i] << bits[i]) & 15) ^ int(x[i] >> bits[i])
    return found


def register(x, bits):
    out = x * 0
    for i in range(1, len(x)):
        out[i] = (out[i - 1] >> bits[i]) ^ (x[i] << 1) ^ (x[i] >> 2)
    return out


def checksum(x, bits):
    crc = 0xFFFF
    for i in range(len(x)):
        byte = 0xFF & x[i]
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            byte = byte >> 1
    return crc


@pytest.mark.parametrize("program", [mixed, register, checksum], ids=lambda p: p.__name__)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_shifts_by_any_number_of_bits(program, dtype, library):
    generator = np.random.default_rng(0)
    signed = dtype != "uint8"
    for few in (True, False):
        x = generator.integers(-100 * signed, 100, 20).astype(dtype)
        bits = generator.integers(0 if few else -3 * signed, 7 if few else 80, 20).astype(dtype)
        values = (torch.from_numpy(x), torch.from_numpy(bits)) if library == "torch" else (x, bits)
        lifted = lift(program, verify="off", backend="native")
        try:
            wanted = program(*values)
        except OverflowError:
            with pytest.raises(OverflowError):
                lifted(*values)
            continue
        for _ in range(2):
            assert difference(lifted(*values), wanted) is None
        assert {loop.decision for loop in lifted.report().loops} == {"native"}
