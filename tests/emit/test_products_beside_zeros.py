"""A product has the gradients of its own lane: torch takes another formula for all where a zero is in any of them."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")
BACKENDS = ["auto", "torch", "native"]


def whole(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].prod())
    return torch.stack(out)


def along(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].prod(0, keepdim=True).sum())
    return torch.stack(out)


def of_two_rows(x):
    out = []
    for i in range(len(x) - 1):
        out.append(x[i : i + 2].prod() + x[i : i + 2].prod(1).sum() + x[i : i + 2].prod(0, keepdim=True).sum())
    return torch.stack(out)


def so_far(x):
    out = []
    for i in range(len(x) - 1):
        out.append(x[i].cumprod(0).sum() + x[i : i + 2].cumprod(1).sum())
    return torch.stack(out)


def taken_inside(x):
    out = []
    for i in range(len(x)):
        row = x[i] * 1.0
        (g,) = torch.autograd.grad(row.prod() * 2, row, create_graph=True)
        out.append((g * torch.arange(1, 1 + len(g), dtype=x.dtype)).sum())
    return torch.stack(out)


def taken_alone(x):
    out = []
    for i in range(len(x)):
        row = x[i].clone()
        (g,) = torch.autograd.grad(row.prod() + row.cumprod(0).sum(), row)
        out.append(g)
    return torch.stack(out) * x * x


def by_key(x):
    found = {}
    for i in range(len(x)):
        found[i % 2] = found[i % 2] + x[i].prod() if i % 2 in found else x[i].prod()
    return torch.stack([found[k] for k in found])


PROGRAMS = [whole, along, of_two_rows, so_far, taken_inside, taken_alone, by_key]
ROWS = {
    "underflow": torch.tensor([[0.0, 1, 2, 3], [1e-30, 1e-30, 1e30, 1e20], [1, 2, 3, 4]]),
    "underflow_alone": torch.tensor([[5.0, 1, 2, 3], [1e-30, 1e-30, 1e30, 1e20], [1, 2, 3, 4]]),
    "overflow": torch.tensor([[0.0, 1, 2, 3], [1e200, 1e200, 1, 2], [1e-200, 1e-200, 1, 2], [0, 0, 1, 2]], dtype=D),
    "zeros": torch.tensor([[0.0, 1, 2, 3], [0.3, 0, 1, -2], [0.5, 2, 3, 4], [0, 0, 1, 2]], dtype=D),
    "infinite": torch.tensor([[0.0, 1, 2], [INF, 3, -4], [1, 2, 3]], dtype=D),
    "none": torch.tensor([[0.5, 1, 2], [2, 3, -4], [1, 2, 3]], dtype=D),
}


def gradients(f, x, incoming, *, second=False):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    seed = torch.full_like(y, 1.0)
    seed[-1] = incoming
    found = torch.autograd.grad(y, leaf, seed, create_graph=second)
    if second:
        found += torch.autograd.grad((found[0] * torch.arange(1.0, 1 + x.numel()).view_as(x)).sum(), leaf)
    return y.detach(), *(one.detach() for one in found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_loops(program, rows, backend):
    lifted = lift(program, verify="off", backend=backend)
    for incoming, second in ((1.0, False), (0.0, True), (2.0, True), (INF, False), (NAN, False)):
        wanted = gradients(program, ROWS[rows], incoming, second=second)
        found = gradients(lifted, ROWS[rows], incoming, second=second)
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=0, equal_nan=True, msg=f"{incoming} {second}")


@pytest.mark.parametrize("program", PROGRAMS[:5])
def test_lanes_run_together(program):
    lifted = lift(program, verify="off", backend="torch")
    lifted(ROWS["zeros"].clone().requires_grad_())
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, str(lifted.report())
