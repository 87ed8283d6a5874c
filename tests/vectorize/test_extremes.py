"""Gradients of greatest and least elements, where elements or the gradients that come in are not finite."""

import pytest
import torch

from looplift import lift

INF, NAN = float("inf"), float("nan")
ROWS = torch.tensor([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0], [0.0, -1.0, 5.0], [4.0, 4.0, 4.0]])
FAR = torch.tensor([[1.0, NAN, 3.0], [2.0, 2.0, -INF], [0.0, -INF, INF], [-INF, -INF, -INF]])


def rows(x):
    out = []
    for i in range(len(x)):
        out.append(torch.max(x[i]) + x[i].max(0).values)
    return torch.stack(out)


def whole_tables(x):
    out = []
    for i in range(len(x)):
        out.append((x[i][:, None] * x[i][None]).min())
    return torch.stack(out)


def medians(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].median() + torch.nanmedian(x[i] * 2))
    return torch.stack(out)


def slices(x):
    flat, ends = x.flatten(), [0, 2, 5, 6, 12]
    out = []
    for i in range(4):
        out.append(flat[ends[i] : ends[i + 1]].max())
    return torch.stack(out)


def plain_slices(x):
    flat, ends = x.flatten(), [0, 2, 5, 6, 12]
    out = []
    for i in range(4):
        out.append(flat[ends[i] : ends[i + 1]].amin())
    return torch.stack(out)


def plain_rows(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].amax())
    return torch.stack(out)


def carried(x):
    held, out = torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        held = torch.tanh(held) * 0.5 + x[i].max()
        out[i] = held
    return out


def plain_carried(x):
    held, out = torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        held = torch.tanh(held) * 0.5 + x[i].amin()
        out[i] = held
    return out


def gradient(function, x, incoming):
    x = x.clone().requires_grad_()
    result = function(x)
    return result.detach(), torch.autograd.grad(result, x, incoming)[0]


@pytest.mark.parametrize("x", [ROWS, FAR], ids=["finite", "far"])
@pytest.mark.parametrize("incoming", [[1.0, 1.0, 1.0, 1.0], [NAN, INF, 1.0, -INF]], ids=["ones", "far"])
@pytest.mark.parametrize(
    "function",
    [rows, whole_tables, medians, slices, plain_slices, plain_rows, carried, plain_carried],
    ids=lambda f: f.__name__,
)
def test_only_what_holds_the_extreme_has_a_gradient(function, x, incoming):
    lifted = lift(function)
    lifted(ROWS.clone().requires_grad_())
    assert lifted.report().loops[0].decision in ("lanes", "native")
    expected = gradient(function, x, torch.tensor(incoming))
    for found, wanted in zip(gradient(lifted, x, torch.tensor(incoming)), expected, strict=True):
        torch.testing.assert_close(found, wanted, equal_nan=True)


@pytest.mark.parametrize("function", [rows, slices], ids=lambda f: f.__name__)
def test_second_derivatives(function):
    lifted = lift(function)
    x = torch.rand(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: lifted(x) ** 2, (x,))
