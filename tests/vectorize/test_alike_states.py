"""States of loops that stay which no lane has for itself are carried once for all: the loop is the oracle."""

import copy

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def spreads(series, A):
    out, last = [], []
    for y in series:
        x, P = torch.zeros(A.shape[0], dtype=A.dtype), torch.eye(A.shape[0], dtype=A.dtype)
        for t in range(len(y)):
            P = A @ P @ A.t() + 0.1 * P
            x = x + P @ (y[t] - x)
        out.append(x)
        last.append(P)
    return torch.stack(out), torch.stack(last)


def handed_out(series, A):
    last = []
    for y in series:
        P = torch.eye(A.shape[0], dtype=A.dtype)
        for _ in range(y.shape[0]):
            P = A @ P * 0.5
        last.append(P)
    return last


def remembered(series, A):
    out = []
    for y in series:
        P, seen = torch.eye(A.shape[0], dtype=A.dtype), []
        for _ in y:
            P = A @ P * 0.5 + 0.1
            seen.append(P)
        total = torch.zeros(A.shape[0], dtype=A.dtype)
        for t in range(len(y) - 1, -1, -1):
            total = torch.tanh(total + seen[t] @ y[t])
        out.append(total)
    return torch.stack(out)


def counted(series, A):
    out, counts = [], []
    for y in series:
        x, count, P = A[0], 0, A * 1
        for t in range(len(y)):
            if y[t].sum() > 0:
                count += t
                P = P * 0.9
            x = torch.tanh(P @ x + y[t])
        out.append(x)
        counts.append(count)
    return torch.stack(out), counts


def changed(series, A):
    out = []
    for y in series:
        P = torch.eye(A.shape[0], dtype=A.dtype)
        for t in range(len(y)):
            P[0] = P[0] * 0.5 + t
            x = P @ y[t]
        out.append(x + P.sum())
    return torch.stack(out)


def exchanged(series, A):
    out = []
    for y in series:
        u, v = A[0], A[1]
        for t in range(len(y)):
            u, v = v, torch.tanh(u + 0.5 * v) if t % 2 else u
        out.append(u * y[0] + v)
    return torch.stack(out)


def given(seed, *, lists):
    generator = torch.Generator().manual_seed(seed)
    A = 0.4 * torch.randn(3, 3, generator=generator, dtype=torch.float64)
    lengths = (4, 1, 5) if seed == 2 and lists else (4, 4, 4, 4)
    series = [torch.randn(n, 3, generator=generator, dtype=torch.float64) for n in lengths]
    return (series if lists else torch.stack(series)), A


def outcome(function, arguments, *, asks):
    series, A = copy.deepcopy(arguments)
    leaves = [A, *([series] if isinstance(series, torch.Tensor) else series)] if asks else []
    for leaf in leaves:
        leaf.requires_grad_()
    result = function(series, A)
    found = result if isinstance(result, tuple | list) else [result]
    score = sum(one.sum() * (k + 1) for k, one in enumerate(found) if isinstance(one, torch.Tensor))
    gradients = torch.autograd.grad(score, leaves, allow_unused=True) if asks and score.requires_grad else ()
    return result, series, A, gradients


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("function", [spreads, handed_out, remembered, counted, changed, exchanged])
def test_states_that_are_alike(function, lists, asks, backend):
    lifted = lift(function, verify="off", backend=backend)
    for seed in range(3):
        arguments = given(seed, lists=lists)
        got, want = outcome(lifted, arguments, asks=asks), outcome(function, arguments, asks=asks)
        assert not (why := difference(got, want)), why


def test_handed_out_states_share_no_memory():
    series, A = given(0, lists=False)
    found = lift(handed_out, verify="off", backend="torch")(series, A)
    assert len({one.data_ptr() for one in found}) == len(found)


def test_they_have_no_axis_of_lanes():
    lifted = lift(spreads, verify="off", backend="torch")
    lifted(*given(0, lists=False))
    assert "P = P_2\n" in lifted.source or "P = torch.eye(A.shape[0], dtype=A.dtype)\n" in lifted.source
