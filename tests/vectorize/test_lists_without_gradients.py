"""Lists of tensors that ask for no gradient, read at places of the data beside tensors that ask for one."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from looplift import lift

N = 6
EDGES = [(0, 1), (2, 1), (3, 5), (1, 1), (0, 4)]


def picked(x, items, places):
    out = []
    for i in range(len(places)):
        out.append(x[i] * items[places[i]])
    return torch.stack(out)


def under_pairs(x, items, places):
    out = []
    for i in range(len(places)):
        total = x[i] * 2
        for a, b in EDGES:
            if b == places[i]:
                total = total + x[a] * items[a, b]
        out.append(total)
    return torch.stack(out)


def gradients(function, x, items, places):
    leaves = [x, *(items.values() if isinstance(items, dict) else items)]
    leaves = [leaf for leaf in leaves if leaf.requires_grad and leaf.is_leaf]
    result = function(x, items, places)
    weights = torch.linspace(1, 2, result.numel()).view_as(result)
    return result, torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True, retain_graph=True)


def row(k, *, asks=False, dtype=torch.float32):
    made = (torch.arange(4) + k).to(dtype)
    return made.requires_grad_() if asks else made


X = torch.randn(N, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
PLACES = [3, 0, 0, 2, 3]
LISTS = [
    [row(k) for k in range(5)], [row(k, asks=k == 3) for k in range(5)], [row(k, asks=True) for k in range(5)],
    [row(k, dtype=torch.int64) for k in range(5)], [row(k) * X[0] for k in range(5)], [row(k) for k in range(5)],
]  # fmt: skip
DICTS = [{edge: row(k, asks=k in asking) for k, edge in enumerate(EDGES)} for asking in ((), (1,), range(9), ())]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "holders"), [(picked, LISTS), (under_pairs, DICTS)])
def test_gradients_are_those_of_the_loop(function, holders, backend):
    lifted = lift(function, backend=backend, verify="off")
    for items in [*holders, *holders[::-1]]:
        wanted, slopes = gradients(function, X, items, PLACES)
        found, others = gradients(lifted, X, items, PLACES)
        assert torch.allclose(found, wanted) and found.dtype == wanted.dtype
        for one, other in zip(slopes, others, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other)


def test_such_lists_are_lanes():
    for function, holders in ((picked, LISTS), (under_pairs, DICTS)):
        lifted = lift(function, verify="off", backend="torch")
        lifted(X, holders[0], PLACES)
        assert "kept" not in [loop.decision for loop in lifted.report().loops], lifted.report()


def pooled(x, items, places):
    out = []
    for k in range(len(items)):
        if len(items[k]) == 0:
            out.append(torch.zeros(4))
            continue
        out.append((torch.softmax(items[k] @ x[0], dim=0)[:, None] * items[k]).sum(0) * x[k])
    return torch.stack(out)


def sequences(lengths, asking):
    rows = torch.randn(20, 4, generator=torch.Generator().manual_seed(1))
    return [rows[:length].clone().requires_grad_(k in asking) for k, length in enumerate(lengths)]


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_sequences_of_which_some_have_nothing(backend):
    lengths = [3, 0, 1, 5, 0]
    lifted = lift(pooled, backend=backend, verify="off")
    for asking in ((), (1,), (0, 3), range(5), ()):
        items = sequences(lengths, asking)
        wanted, slopes = gradients(pooled, X, items, PLACES)
        found, others = gradients(lifted, X, items, PLACES)
        assert torch.allclose(found, wanted)
        for one, other in zip(slopes, others, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other, atol=1e-6)
    lifted: Any = lift(pooled, backend=backend, verify="off")
    lifted(X, sequences(lengths, ()), PLACES)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, lifted.report()
