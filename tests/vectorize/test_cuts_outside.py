"""Parts of computed length between loops: what they give has no lanes to be long in."""

import pytest
import torch

from looplift import lift


def centred_between(x, starts, ends):
    z = x * 1
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2
    z[starts[0] : ends[0]] = x[starts[0] : ends[0]] - x[starts[0] : ends[0]].mean()
    for i in range(len(x)):
        out[i] += z[i]
    return out, z


def centred_before(x, starts, ends):
    z = x * 1
    lo, hi = starts[0], ends[0]
    z[lo:hi] = x[lo:hi] - x[lo:hi].mean()
    for i in range(len(x)):
        z[i] = z[i] + x[i]
    return z


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [centred_between, centred_before])
def test_parts_of_computed_length_between_loops(function, backend):
    x, starts, ends = torch.randn(6), torch.tensor([1, 2]), torch.tensor([4, 5])
    lifted = lift(function, backend=backend, verify="off")
    torch.testing.assert_close(lifted(x, starts, ends), function(x, starts, ends))
    assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "native"}
