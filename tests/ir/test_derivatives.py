"""The derivative that is written out for each operation is the one that torch takes, and so is its own."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from looplift import lift

INF, NAN = float("inf"), float("nan")


def by_input(f, xs, w):
    found = []
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        y = f(x, w)
        found.append(torch.autograd.grad(y, x, grad_outputs=torch.cos(y.detach() * 0 + 1) * i)[0])
    return torch.stack(found)


def by_weight(f, xs, w):
    found = []
    for i in range(len(xs)):
        y = f(xs[i], w)
        found.append(torch.autograd.grad(y, w, grad_outputs=torch.ones_like(y) * (i + 1))[0])
    return torch.stack(found)


def with_graph(f, xs, w):
    total = 0.0
    for i in range(len(xs)):
        x = (xs[i] * w).detach().requires_grad_(True)
        y = f(x * w, w)
        (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        total = total + (g * g).sum()
    return total


UNARY = [
    lambda x, w: torch.exp2(x),
    lambda x, w: torch.expm1(x),
    lambda x, w: torch.log2(x.abs() + 0.5),
    lambda x, w: torch.log10(x.abs() + 0.5),
    lambda x, w: torch.log1p(x.abs()),
    lambda x, w: torch.tan(x),
    lambda x, w: torch.sinh(x),
    lambda x, w: torch.cosh(x),
    lambda x, w: torch.asin(torch.tanh(x) * 0.9),
    lambda x, w: torch.acos(torch.tanh(x) * 0.9),
    lambda x, w: torch.atan(x),
    lambda x, w: torch.asinh(x),
    lambda x, w: torch.acosh(x.square() + 1.5),
    lambda x, w: torch.atanh(torch.tanh(x) * 0.9),
    lambda x, w: torch.erf(x),
    lambda x, w: torch.erfc(x),
    lambda x, w: torch.rsqrt(x * x + 1),
    lambda x, w: torch.reciprocal(x * x + 1),
    lambda x, w: (x * x + 0.1) ** 0.5 + (x * x + 1) ** -1,
    lambda x, w: torch.div(x, w) - torch.subtract(torch.multiply(x, w), torch.negative(x)),
]
ACTIVATIONS = [
    lambda x, w: F.relu(x),
    lambda x, w: F.relu6(x),
    lambda x, w: F.hardtanh(x),
    lambda x, w: F.hardtanh(x, -0.5, 2.0),
    lambda x, w: F.hardsigmoid(x),
    lambda x, w: F.hardswish(x),
    lambda x, w: F.leaky_relu(x),
    lambda x, w: F.leaky_relu(x, 0.2),
    lambda x, w: F.elu(x),
    lambda x, w: F.elu(x, alpha=0.7),
    lambda x, w: F.selu(x),
    lambda x, w: F.celu(x, 0.7),
    lambda x, w: F.silu(x),
    lambda x, w: F.mish(x),
    lambda x, w: F.softplus(x),
    lambda x, w: F.softplus(x, beta=2, threshold=3),
    lambda x, w: F.logsigmoid(x),
    lambda x, w: F.softsign(x),
    lambda x, w: F.tanhshrink(x),
    lambda x, w: F.gelu(x),
    lambda x, w: F.gelu(x, approximate="tanh"),
    lambda x, w: x.clamp(-1, 1),
    lambda x, w: torch.clamp(x, min=-1.0),
    lambda x, w: x.clamp_max(0.0) + x.clamp_min(-1),
    lambda x, w: torch.where(x > 0, x * w, x),
    lambda x, w: (x * x).masked_fill(x > 1, 0.5),
]
ALONG = [
    lambda x, w: x.amax(),
    lambda x, w: x.max() + x.min(),
    lambda x, w: torch.amin(x, dim=0, keepdim=True),
    lambda x, w: torch.logsumexp(x, dim=0),
    lambda x, w: torch.logsumexp(x, 0, keepdim=True),
    lambda x, w: torch.norm(x),
    lambda x, w: x.norm(dim=0, keepdim=True),
    lambda x, w: torch.linalg.norm(x - 1),
    lambda x, w: torch.linalg.vector_norm(x, dim=-1),
    lambda x, w: x.var(),
    lambda x, w: x.var(dim=0, unbiased=False),
    lambda x, w: x.std(0),
    lambda x, w: torch.cumsum(x, 0),
    lambda x, w: F.normalize(x, dim=0),
    lambda x, w: torch.softmax(x, -1) + F.log_softmax(x, dim=0),
    lambda x, w: F.layer_norm(x, (8,)),
    lambda x, w: F.layer_norm(x, (8,), w, w * 2, 1e-3),
    lambda x, w: F.rms_norm(x, (8,), w),
    lambda x, w: F.rms_norm(x, (8,), eps=1e-2),
]
PAIRS = [
    lambda x, w: torch.maximum(x, w),
    lambda x, w: torch.min(x, w),
    lambda x, w: F.mse_loss(x, w),
    lambda x, w: F.l1_loss(x, w, reduction="sum"),
    lambda x, w: F.smooth_l1_loss(x, w, beta=0.5),
    lambda x, w: F.huber_loss(x, w, reduction="none", delta=0.7),
    lambda x, w: F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none") * w,
    lambda x, w: F.binary_cross_entropy(torch.sigmoid(x * w), torch.zeros_like(x)),
    lambda x, w: F.kl_div(F.log_softmax(x * w, 0), torch.full_like(x, 0.125), reduction="sum"),
    lambda x, w: F.nll_loss(F.log_softmax(x * w, 0), torch.tensor(2)),
    lambda x, w: F.cross_entropy((x * w).view(2, 4), torch.tensor([1, -100]), reduction="none"),
    lambda x, w: F.prelu(x, w[:1]),
    lambda x, w: torch.outer(x, w),
    lambda x, w: torch.einsum("i,j->ij", x, w),
    lambda x, w: torch.einsum("ij,kj->ik", x.view(2, 4), w.view(2, 4)),
    lambda x, w: torch.matmul(x.view(2, 2, 2), w.view(2, 2, 2)),
    lambda x, w: x.view(2, 2, 2) @ w.view(2, 2, 2)[0],
    lambda x, w: torch.bmm(x.view(2, 1, 4), w.view(2, 4, 1)),
    lambda x, w: torch.addmm(w[:2], x.view(4, 2), w[:4].view(2, 2)),
    lambda x, w: F.linear(x.view(2, 2, 2), w[:6].view(3, 2), w[5:]),
    lambda x, w: F.embedding(torch.tensor([1, 0, 1]), (x * w).view(4, 2)),
]
SHAPES = [
    lambda x, w: x[2:] * w[:6],
    lambda x, w: x[:-2] + x[2:],
    lambda x, w: x[1:-1] * w[3],
    lambda x, w: x[-3:],
    lambda x, w: x.view(4, 2)[1:3, 1] * w[0],
    lambda x, w: x.view(2, 4)[1, 1:],
    lambda x, w: x.view(2, 4)[:, -2:],
    lambda x, w: x[torch.tensor([3, -1, 3])],
    lambda x, w: x.index_select(0, torch.tensor([3, 0, 3])),
    lambda x, w: x.gather(0, torch.tensor([3, 0, 3])),
    lambda x, w: x.view(2, 4).transpose(0, 1) * w.view(4, 2),
    lambda x, w: x.view(2, 2, 2).permute(2, 0, 1) * w.view(2, 2, 2),
    lambda x, w: x.view(1, 8).expand(3, 8) * w,
    lambda x, w: x.flip(0) * w,
    lambda x, w: torch.tril(x.view(2, 4)),
]


def values(special=False, dtype=torch.float64):
    torch.manual_seed(0)
    xs = torch.randn(6, 8, dtype=dtype)
    xs[0] = torch.tensor([0.0, 3.0, -3.0, 1.0, -1.0, 6.0, 2.0, -0.5])
    xs[1] = torch.tensor([0.5, 0.5, 0.0, 0.5, 25.0, -25.0, 1.0, 1.0])
    xs[2] = 0
    if special:
        xs[3, 2], xs[4, 5], xs[4, 6] = INF, NAN, -INF
    w = torch.randn(8, dtype=dtype)
    w[:2] = 0.5
    return xs, w.requires_grad_(True)


def outcome(slow, f, xs, w):
    w = w.detach().clone().requires_grad_(True)
    try:
        found = slow(f, xs.clone(), w)
        grads = torch.autograd.grad(found.sum(), w, allow_unused=True)[0] if found.requires_grad else None
        return found.detach(), grads
    except Exception as error:
        return type(error), str(error)


def assert_alike(lifted, slow, f, xs, w):
    got, want = outcome(lifted, f, xs, w), outcome(slow, f, xs, w)
    assert [type(one) for one in got] == [type(one) for one in want], (got, want)
    for left, right in zip(got, want):
        if isinstance(right, torch.Tensor):
            torch.testing.assert_close(left, right, equal_nan=True)
        else:
            assert left == right


def compare(slow, f, *, backend="auto"):
    lifted = lift(slow, verify="off", backend=backend)
    assert_alike(lifted, slow, f, *values())
    report = str(lifted.report())
    assert_alike(lifted, slow, f, *values(special=True))
    return report


@pytest.mark.parametrize("f", (*UNARY, *ACTIVATIONS, *ALONG, *PAIRS, *SHAPES))
def test_by_input(f):
    assert "kept" not in (report := compare(by_input, f)), report


@pytest.mark.parametrize("f", PAIRS)
def test_by_weight(f):
    assert "kept" not in (report := compare(by_weight, f)), report


@pytest.mark.parametrize("f", (*UNARY, *ACTIVATIONS, *ALONG, *PAIRS, *SHAPES))
def test_with_graph(f):
    compare(with_graph, f, backend="torch")


MODULES = [
    nn.LayerNorm(8),
    nn.LayerNorm(8, elementwise_affine=False),
    nn.RMSNorm(8),
    nn.BatchNorm1d(8).eval(),
    nn.Dropout(0.5).eval(),
    nn.GELU(),
    nn.GELU(approximate="tanh"),
    nn.SiLU(),
    nn.Mish(),
    nn.Softplus(2.0),
    nn.ELU(0.5),
    nn.SELU(),
    nn.CELU(0.5),
    nn.LeakyReLU(0.2),
    nn.ReLU6(),
    nn.Hardtanh(-0.5, 0.5),
    nn.Hardswish(),
    nn.LogSigmoid(),
    nn.Softsign(),
    nn.Tanhshrink(),
    nn.Softmax(dim=-1),
    nn.LogSoftmax(dim=-1),
    nn.PReLU(),
    nn.Identity(),
]
CRITERIA = [
    nn.MSELoss(),
    nn.L1Loss(reduction="sum"),
    nn.SmoothL1Loss(beta=0.5),
    nn.HuberLoss(delta=0.5),
    nn.BCEWithLogitsLoss(),
    nn.CrossEntropyLoss(),
    nn.NLLLoss(),
    nn.KLDivLoss(reduction="batchmean"),
]


def by_parameters(net, criterion, xs, ys):
    rows = []
    for i in range(len(xs)):
        loss = criterion(net(xs[i : i + 1]), ys[i : i + 1])
        grads = torch.autograd.grad(loss, list(net.parameters()))
        rows.append(torch.cat([g.reshape(-1) for g in grads]))
    return torch.stack(rows)


def compare_networks(net, criterion):
    torch.manual_seed(0)
    xs = torch.randn(5, 6)
    ys = torch.tensor([0, 2, 1, 1, 2]) if isinstance(criterion, (nn.CrossEntropyLoss, nn.NLLLoss)) else torch.rand(5, 3)
    lifted = lift(by_parameters, verify="off")
    for _ in range(2):
        torch.testing.assert_close(lifted(net, criterion, xs, ys), by_parameters(net, criterion, xs, ys))
    assert "kept" not in str(lifted.report()), lifted.report()


@pytest.mark.parametrize("module", MODULES, ids=repr)
def test_modules(module):
    torch.manual_seed(0)
    compare_networks(nn.Sequential(nn.Linear(6, 8), module, nn.Linear(8, 3)), nn.MSELoss())


@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
def test_criteria(criterion):
    torch.manual_seed(0)
    compare_networks(nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)), criterion)


def test_a_module_that_begins_to_train():
    """Dropout and statistics of the batch come back with ``train()``."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3)).eval()
    compare_networks(net, nn.MSELoss())
    lifted, xs, ys = lift(by_parameters, verify="off"), torch.randn(4, 6), torch.rand(4, 3)
    lifted(net, nn.MSELoss(), xs, ys)
    net[2].train()
    torch.manual_seed(1)
    want = by_parameters(net, nn.MSELoss(), xs, ys)
    torch.manual_seed(1)
    torch.testing.assert_close(lifted(net, nn.MSELoss(), xs, ys), want)
