"""Products that overflow or vanish on the way, and operations that lanes leave to the loop or take without an error."""

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def product(values):
    total = torch.tensor(1.0)
    for i in range(len(values)):
        total = total * values[i]
    return total


def large_product(values):
    total = np.float32(1e38)
    for value in values:
        total = total * value
    return total


def gelus(values):
    return [torch.nn.functional.gelu(values[i]) for i in range(len(values))]


def whole(values):
    return [int(value) for value in values]


def long_integers(values):
    state, out = 88172645463325252, []
    for value in values:
        state ^= (state << 13) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        out.append((state + value) % 100)
    return out


def deviations(values):
    out = torch.zeros(len(values), 3)
    for i in range(len(values)):
        if values[i, 0] > 0:
            out[i] = values[i] / values[i].std()
    return out


def gates(values):
    h, c, out = torch.zeros(2, 3), torch.zeros(2, 3), []
    for t in range(len(values)):
        i, f = (values[t] + h.repeat(1, 2)).chunk(2, dim=-1)
        c = torch.sigmoid(f) * c + torch.tanh(i)
        h = torch.tanh(c)
        out.append(h)
    return torch.stack(out)


OVERFLOWING = torch.cat([torch.full((3,), 1e30), torch.full((200,), 1e-30), torch.zeros(1)])
CASES = [
    (product, OVERFLOWING), (product, torch.tensor([1e30, 1e30, 1e-30, 1e-30])),
    (product, torch.tensor([1e-30, 1e-30, 1e30, 1e30])), (product, torch.tensor([2.0, 0.0, 3.0])),
    (large_product, np.array([5, 2, 0, 3], np.float32)), (large_product, np.array([0.5, 2], np.float32)),
    (gelus, torch.tensor([float("inf"), 1.0, float("-inf"), 0.0], dtype=torch.bfloat16)),
    (whole, np.array([3, 4], "m8[s]")), (long_integers, [1, 2, 3] * 20),
    (deviations, torch.tensor([[1.0, 2, 3], [-1, -1, -1], [4, 5, 7]], requires_grad=True)),
    (gates, torch.linspace(-1, 1, 24).reshape(2, 2, 6).requires_grad_()),
]  # fmt: skip


def outcome(function, values):
    try:
        with np.errstate(all="ignore"):
            return function(values)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_as_the_loop(case, backend):
    function, values = case
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        assert difference(outcome(lifted, values), outcome(function, values)) is None
    assert "Error" not in " ".join(one.reason for one in lifted.report().loops)
