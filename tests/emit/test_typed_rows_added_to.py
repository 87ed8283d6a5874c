"""Rows of tables that change in place, of one table or of several in a dict: gradients flow through what is added."""

import pytest
import torch
from torch.testing import assert_close

from looplift import lift


def messages(u, edges, weights):
    out = {kind: torch.zeros(4, 2, dtype=torch.float64) for kind in edges}
    for kind, pairs in edges.items():
        for s, d in pairs:
            out[kind][d] += torch.relu(u[s] @ weights[kind])
    return out


def scaled(u, edges, weights):
    out = {"a": torch.ones(4, 2, dtype=torch.float64)}
    for s, d in edges["a"]:
        out["a"][d] *= u[s] * 2
        out["a"][s][0] += u[d][1] * u[d][0]
    return out


def also_stored(table, row):
    table[0] = row * 3
    return row * 2


def meanwhile(u, edges, weights):
    out = {"a": torch.zeros(4, 2, dtype=torch.float64)}
    for s, d in edges["a"]:
        out["a"][0] += also_stored(out["a"], u[s]) + u[d]
    return out


def graph():
    g = torch.Generator().manual_seed(0)
    u = torch.randn(4, 2, dtype=torch.float64, generator=g).requires_grad_()
    weights = {kind: torch.randn(2, 2, dtype=torch.float64, generator=g).requires_grad_() for kind in "ab"}
    return u, {"a": [(0, 1), (1, 3), (2, 1)], "b": [(2, 0)]}, weights


@pytest.mark.parametrize("function", [messages, scaled])
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_rows_are_added_to(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        slopes = []
        for one in (function, lifted):
            u, edges, weights = graph()
            found = one(u, edges, weights)
            sum((value * value).sum() for value in found.values()).backward()
            slopes.append([found, u.grad, weights["a"].grad, weights["b"].grad])
        assert_close(*slopes)
    assert "kept" not in {one.decision for one in lifted.report().loops}


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_row_that_was_stored_to_meanwhile_raises_as_in_the_loop(backend):
    for function in (meanwhile, lift(meanwhile, backend=backend, verify="off")):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            function(*graph())
