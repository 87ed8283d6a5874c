"""Values that are integers in some iterations and floats or tensors in others, beside tensors of other dtypes."""

from __future__ import annotations

import itertools

import pytest
import torch
from tests.frontend.oracle import outcome
from tests.vectorize.harness import written

from looplift import lift
from looplift.base.compare import difference

PROGRAM = """
def program(x, y, m):
    n = 0
    for k in range(len(x)):
        if k % 3 == 0:
            s = {first}
        else:
            s = {second}
        n = n + {use}
    return n
"""


def program(first, second, use):
    text = PROGRAM.format(first=first, second=second, use=use)
    return written(text, f"<{first} {second} {use}>", {})["program"]


USES = ["(3 if x[k] < s else 0)", "float(s * x[k])", "int(x[k] == s)", "float(abs(s) + x[k])"]
DTYPES = [torch.uint8, torch.int32, torch.int64, torch.float32]


@pytest.mark.parametrize(("dtype", "other"), [*itertools.product(DTYPES, [torch.float64, torch.int64])], ids=str)
@pytest.mark.parametrize("use", USES)
def test_numbers_are_taken_in_the_dtype_of_the_tensor_beside_them(use, dtype, other):
    x, y = torch.arange(1, 8).to(dtype), torch.arange(2, 9).to(other)
    for first, second in (("3000000001", "y[k]"), ("-1", "y[k].item()"), ("m", "0.5")):
        function = program(first, second, use)
        for backend in ("torch", "native"):
            wanted = outcome(function, (x, y, 3000000001))
            found = outcome(lift(function, verify="off", backend=backend), (x, y, 3000000001))
            why = difference(found, wanted, magnitude=1.0, path="call")
            assert not why, f"{first}, {second}, {backend}: {why}"


def test_numbers_that_are_taken_alike_stay_lifted():
    function = program("0", "x[k - 1]", "(3 if x[k] < s else 0)")
    lifted = lift(function, backend="torch")
    assert lifted(torch.arange(9), None, 0) == function(torch.arange(9), None, 0)
    assert "kept" not in [loop.decision for loop in lifted.report().loops]
