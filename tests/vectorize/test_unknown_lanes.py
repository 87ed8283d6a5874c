"""Carried values that begin without a gradient, through several choices: no loop is refused by an internal error."""

import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def weighted_keys(k, v, w, u):
    out = torch.zeros(k.shape)
    for c in range(k.shape[1]):
        a = torch.tensor(0.0)
        p = torch.tensor(-1e38)
        for t in range(k.shape[0]):
            q = torch.maximum(p, u[c] + k[t, c])
            out[t, c] = torch.exp(p - q) * a
            q = torch.maximum(p - w[c], k[t, c])
            a = torch.exp(p - q) * a + torch.exp(k[t, c] - q) * v[t, c]
            p = q
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_lanes_that_only_the_run_knows(backend):
    torch.manual_seed(0)
    values = [torch.randn(6, 4), torch.randn(6, 4), torch.randn(4), torch.randn(4)]
    lifted = lift(weighted_keys, backend=backend, verify="off")
    wanted = outcome(weighted_keys, values, gradients=True)
    for _ in range(2):
        why = difference(outcome(lifted, values, gradients=True), wanted, magnitude=1.0, path="call")
        assert not why, why
    for loop in lifted.report().loops:
        assert "KeyError" not in loop.reason
        assert loop.decision == ("kept" if backend == "torch" else "native")
