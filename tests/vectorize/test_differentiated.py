"""Gradients that a loop takes through operations without a derivative of their own: torch finds them, in all lanes."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from looplift import lift

PROGRAM = """
import torch
import torch.nn.functional as F


def one(w, x):
    return {expression}


def first(ws, x):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        found.append(torch.autograd.grad(one(w, x), w)[0])
    return torch.stack(found)


def second(ws, x):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(one(w, x), w, create_graph=True)[0]
        found.append(torch.autograd.grad((slope * slope).sum() + slope[0], w)[0])
    return torch.stack(found)


def by_what_all_read(ws, x):
    found = []
    for w in ws:
        found.append(torch.autograd.grad(one(w, x), x)[0])
    return torch.stack(found)


def penalty(ws, x):
    total = 0.0
    for w in ws:
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(one(w, x), w, create_graph=True)[0]
        total = total + (slope * slope).sum()
    return total
"""

BY_TORCH = (
    "F.softplus(x @ w).logsumexp(0)",
    "torch.maximum(x[0], w).exp().sum() + torch.minimum(x[1] * w, w).square().sum()",
    "torch.einsum('ij,j->i', x, w).square().sum() + torch.outer(w, x[0]).square().sum()",
    "(x @ w).var() + (x * w).std(0).sum()",
    "w[1:].dot(w[:-1] * x[0, 1:]) + (x * w)[:, ::2].exp().sum() + (x * w)[1:3, None].exp().sum()",
    "(x[0] * w).prod() + torch.exp(-w * x[0]).cumsum(0).sum() + (x * w).flip(0).cumprod(0).sum()",
    "F.smooth_l1_loss(x @ w, x[:, 0]) + F.huber_loss(x @ w, x[:, 1])",
    "F.nll_loss(F.log_softmax(x @ w[:, None], 0).T, torch.tensor([1]))",
    "F.binary_cross_entropy(torch.sigmoid(x @ w), (x[:, 0] > 0).to(w.dtype))",
    "torch.linalg.solve(x[:4] + 9 * torch.eye(4, dtype=w.dtype), w).square().sum()",
    "torch.linalg.det(x[:4] + torch.diag(w))",
    "torch.atan2(w[0], x[0, 1]) + torch.erf(w * x).sum() + torch.sinh(w * x).sum()",
    "torch.max(x * w, dim=0).values.square().sum() + torch.topk(x @ w, 2).values.prod()",
    "torch.sort(x @ w)[0][:2].square().sum() + torch.var_mean(x * w)[0]",
    "(x * w).chunk(2)[1].exp().sum() + torch.roll(w, 1).dot(w * x[0])",
    "(2.0 ** (x * w)).sum() + (x.abs() ** w).sum() + w.sub(x[0], alpha=2).square().sum()",
    "(w.expand(6, 4) * x).square().sum() + (w * x[0]).repeat(2).exp().sum()",
    "(x * w).norm(3) + (x * w)[torch.tensor([0, 2, 2])].exp().sum()",
    "(x * w).T.square().sum(dim=1, dtype=w.dtype).dot(w) + abs(x * w).sum().exp()",
    "F.layer_norm(w * x, (4,)).exp().sum() + F.cosine_similarity(x[0], w, dim=0)",
)

BY_ROWS = (
    "torch.where(w > 0, w * w * x[0], w.exp()).sum() + w.square().where(x > 0, w ** 3).sum()",
    "torch.clamp(x @ w, -0.5, 0.5).exp().sum() + (x @ w).clamp(min=0.1).square().sum()",
    "(x * w).clamp_max(0.3).square().sum() + torch.clip(x * w, max=0.2).exp().sum()",
    "((w * x) ** -1).sum() + ((w * x).abs() ** 0.5).sum() + (w * x).pow(-2.5 + 0.5).sum()",
    "(x @ w).norm() + torch.norm(x * w) + (x * w).norm(dim=1).exp().sum()",
    "torch.linalg.norm(x * w) + torch.linalg.vector_norm(x * w, dim=0, keepdim=True).exp().sum()",
    "(w[None, :] - x).square().sum() + (w[..., None] * x[0]).exp().sum()",
    "torch.log1p((x * w).square()).sum() + torch.rsqrt(1 + (w * x) ** 2).square().sum()",
)


def program(tmp_path: Path, expression: str) -> Any:
    path = tmp_path / "program_of_slopes.py"
    path.write_text(PROGRAM.format(expression=expression))
    spec = importlib.util.spec_from_file_location("program_of_slopes", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(function, ws, x):
    """Results, whether they ask for a gradient, and that by ``x``; or the exception."""
    try:
        found = function(ws, x)
        grown = torch.autograd.grad(found.sum(), x) if found.requires_grad else ()
        return [found.detach(), found.requires_grad, *grown]
    except Exception as error:
        return [type(error), str(error)]


def assert_alike(got, wanted, dtype):
    assert len(got) == len(wanted)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 3e-4, "atol": 3e-4}
    for left, right in zip(got, wanted):
        if isinstance(right, torch.Tensor):
            torch.testing.assert_close(left, right, equal_nan=True, **close)
        else:
            assert left == right


@pytest.mark.parametrize("expression", (*BY_TORCH, *BY_ROWS))
def test_like_the_loop(tmp_path, expression):
    """Of lanes that differ, by what differs and by what all read, twice, and with gradients of them."""
    module = program(tmp_path, expression)
    for name, asks in (("first", False), ("second", False), ("by_what_all_read", True), ("penalty", True)):
        function = getattr(module, name)
        lifted = lift(function, backend="torch", verify="off")
        for dtype in (torch.float64, torch.float32):
            torch.manual_seed(3)
            ws, x = torch.randn(7, 4, dtype=dtype), torch.randn(6, 4, dtype=dtype).requires_grad_(asks)
            for count in (7, 1):
                assert_alike(outcome(lifted, ws[:count], x), outcome(function, ws[:count], x), dtype)
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"], (name, lifted.report())
        if name == "first" and expression in BY_ROWS:
            assert "torch.autograd.grad" not in lifted.source


# ---------------------------------------------------------------- values at the edges


EDGES = ((1.0, 1, 0, 0), (0, 0, 0, 0), (2, 2, 2, 2), (float("inf"), 1, 2, 3), (float("nan"), 1, 2, 3), (-1, 0, 1, -1))


def ties(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        y = w.max() * 3 + torch.maximum(w, w.flip(0)).sum() + w.amin(0) + torch.clamp(w, 0.0, 1.0).sum()
        found.append(torch.autograd.grad(y, w)[0])
    return torch.stack(found)


def roots_of_zero(ws, x, net):
    found = []
    for i, w in enumerate(ws):
        w = w.detach().requires_grad_(True)
        y = (w * (i % 2)).norm() + torch.linalg.vector_norm(w * (i % 3)) + (w.abs() ** 0.5).sum()
        found.append(torch.autograd.grad(y, w)[0])
    return torch.stack(found)


def infinite(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        y = torch.log((w.max() - w).abs().amin()) + (w * 1e30).exp().logsumexp(0) + (w * 1e30).prod()
        found.append(torch.autograd.grad(y + F.softplus(w * 1e38 * 100).sum(), w)[0])
    return torch.stack(found)


def in_some(ws, x, net):
    found = torch.zeros_like(ws)
    for i, w in enumerate(ws):
        if x[i % 6, 0] > 0:
            w = w.detach().requires_grad_(True)
            y = torch.logsumexp(x @ w, 0) + (w**-1).sum() + torch.sinh(w).sum()
            found[i] = torch.autograd.grad(y, w)[0]
    return found


def unpacked(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        values, places = torch.max(x * w, dim=0)
        low, high = torch.aminmax(w)
        y = values.exp().sum() + low * high + places.sum() + (x * w).mT.square().cumsum(0).sum()
        found.append(torch.autograd.grad(y, w)[0])
    return torch.stack(found)


def descent(ws, x, net):
    found = []
    for w in ws:
        for _ in range(4):
            w = w.detach().requires_grad_(True)
            (slope,) = torch.autograd.grad(F.logsigmoid(x @ w).mean() + w.norm(), w)
            w = w - 0.1 * slope
        found.append(w.detach())
    return torch.stack(found)


def descent_until(ws, x, net):
    found = []
    for w in ws:
        steps = 0
        while steps < 20:
            w = w.detach().requires_grad_(True)
            (slope,) = torch.autograd.grad(F.softplus(x @ w).mean() + torch.erf(w).sum(), w)
            w = w.detach() - 0.3 * slope
            steps += 1
            if slope.norm() < 0.5:
                break
        found.append(w * steps)
    return torch.stack(found)


def newton(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        loss = F.softplus(x @ w).mean() + torch.logsumexp(w, 0)
        slope = torch.autograd.grad(loss, w, create_graph=True)[0]
        rows = [torch.autograd.grad(slope[k], w, retain_graph=True)[0] for k in range(4)]
        hessian = torch.stack(rows) + torch.eye(4, dtype=w.dtype)
        found.append((w - torch.linalg.solve(hessian, slope)).detach())
    return torch.stack(found)


def thirds(ws, x, net):
    found = []
    for i, w in enumerate(ws):
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(F.softplus(x @ w).cumsum(0), w, x[:, i % 4], create_graph=True)[0]
        second = torch.autograd.grad(slope, w, x[i % 6], create_graph=True)[0]
        found.append(torch.autograd.grad(second.sum(), w)[0])
    return torch.stack(found)


def of_what_is_between(ws, x, net):
    found, others = [], []
    for w in ws:
        w = w.detach().requires_grad_(True)
        h = F.softplus(x @ w)
        first, second = torch.autograd.grad(h.logsumexp(0) + h.std(), [h, w])
        found.append(first)
        others.append(second)
    return torch.stack(found), torch.stack(others)


def handed_out_and_changed(ws, x, net):
    found, others = [], []
    for w, seed in zip(ws, x):
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(w.expand(4).narrow(0, 0, 4), w, seed)[0]
        slope += 1
        found.append(slope)
        others.append(seed * 2)
    return torch.stack(found), torch.stack(others)


def with_graphs(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        found.append(torch.autograd.grad(torch.erf(net(w)).logsumexp(0), w, create_graph=True)[0])
    return torch.stack(found)


def by_a_parameter(ws, x, net):
    found = []
    for w in ws:
        loss = F.softplus(net[0].weight * w).logsumexp(0).norm()
        found.append(torch.autograd.grad(loss, net[0].weight)[0])
    return torch.stack(found)


LANES = (
    ties, roots_of_zero, infinite, in_some, unpacked, descent, descent_until, newton, thirds, of_what_is_between,
    with_graphs, by_a_parameter,
)  # fmt: skip


def dropped(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        found.append(torch.autograd.grad(F.dropout(w, 0.5).exp().sum(), w)[0])
    return torch.stack(found)


def in_place(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        h = torch.sinh(w)
        h += 1
        found.append(torch.autograd.grad(h.exp().sum(), w)[0])
    return torch.stack(found)


def not_differentiable(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        loss = torch.heaviside(w, torch.zeros_like(w)).sum() + w.sum()
        found.append(torch.autograd.grad(loss, w)[0])
    return torch.stack(found)


def not_twice_differentiable(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(torch.cdist(w[None], x).sum(), w, create_graph=True)[0]
        found.append(torch.autograd.grad(slope.sum(), w)[0])
    return torch.stack(found)


def unused(ws, x, net):
    found = []
    for w in ws:
        w = w.detach().requires_grad_(True)
        slope = torch.autograd.grad(torch.maximum(x @ w, w[0]).sum(), w, create_graph=True)[0]
        found.append(torch.autograd.grad(slope.sum(), w)[0])
    return torch.stack(found)


def by_a_tied_parameter(ws, x, net):
    found = []
    for w in ws:
        h = nn.functional.linear(EMBEDDING(torch.tensor(1)) + w.double(), EMBEDDING.weight)
        found.append(torch.autograd.grad(h.square().sum(), EMBEDDING.weight)[0])
    return torch.stack(found)


EMBEDDING = nn.Embedding(5, 4).double()
KEPT = (dropped, in_place, not_differentiable, not_twice_differentiable, unused)
EITHER = (handed_out_and_changed, by_a_tied_parameter)
"""Lanes, or kept: their values are what matters."""


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else [t for one in value for t in leaves(one)]


def seen(function, ws, x, net):
    ws, x, net = copy.deepcopy((ws, x, net))
    torch.manual_seed(1)
    try:
        found = leaves(function(ws, x, net))
        grown = [t for t in found if t.requires_grad]
        total = sum((t * torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).view_as(t)).sum() for t in grown)
        grads = torch.autograd.grad(total, list(net.parameters()), allow_unused=True) if grown else ()
        return [*(t.detach() for t in found), [t.requires_grad for t in found], *grads, ws, x]
    except Exception as error:
        return [type(error), str(error)]


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
@pytest.mark.parametrize("function", (*LANES, *KEPT, *EITHER))
def test_programs(function, backend):
    for dtype in (torch.float64, torch.float32):
        torch.manual_seed(0)
        ws, x = torch.randn(6, 4, dtype=dtype), torch.randn(6, 4, dtype=dtype)
        net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3)).to(dtype)
        lifted = lift(function, backend=backend, verify="off")
        for given in (ws, ws[:1], ws[:0], torch.tensor(EDGES, dtype=dtype)):
            assert_alike(seen(lifted, given, x, net), seen(function, given, x, net), dtype)
        outer = lifted.report().loops[0]
        if function in KEPT:
            assert outer.decision == "kept"
            assert function is in_place or outer.code == "gradient" or backend == "native"
        elif function in LANES and backend != "native":
            assert outer.decision == "lanes", lifted.report()
