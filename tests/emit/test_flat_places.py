"""Reads at places that a loop which stays does not change: where they stand is found once."""

import pytest
import torch

import looplift
from looplift.base.compare import difference
from looplift.emit.helpers import helper_functions

TAKEN_AT = helper_functions(("taken_at",))["taken_at"]


def diffused(x, rows, columns, steps):
    for _ in range(steps):
        new = torch.zeros_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                new[i, j] = torch.sin(x[rows[i, j], columns[i, j]]) + x[i, j]
        x = new
    return x


def arguments(n, m, low=0):
    generator = torch.Generator().manual_seed(n)
    x = torch.rand(n, m, generator=generator, dtype=torch.float64)
    return x, *(torch.randint(low * k, k, (n, m), generator=generator) for k in (n, m)), 3


@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("shape", [(3, 4), (40, 30)])
def test_the_loop_is_what_it_stands_for(shape, low):
    lifted = looplift.lift(diffused, verify="off", backend="torch")
    given = arguments(*shape, low=low)
    wanted = diffused(*given)
    for _ in range(2):
        assert difference(lifted(*given), wanted) is None
    assert "taken_at(" in lifted.source and lifted.report().loops[0].decision == "sequential"


def test_a_place_outside_raises_as_in_the_loop():
    lifted = looplift.lift(diffused, verify="off", backend="torch")
    x, rows, columns, steps = arguments(40, 30)
    columns[3, 3] = 30  # in flat values the first one of the next row
    for run in (diffused, lifted, lifted):
        with pytest.raises(IndexError):
            run(x, rows, columns, steps)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool])
def test_values_of_several_shapes(dtype):
    known = {}
    for shape in ((50, 40), (40, 50), (50, 40)):
        values = torch.rand(shape)
        rows, columns = (torch.arange(20).view(4, 5) % 2).to(dtype), torch.arange(5).to(dtype)
        if dtype == torch.bool:
            rows, columns = values[:, 0] > 0.5, torch.tensor(3)
        assert torch.equal(TAKEN_AT(values, known, rows, columns), values[rows, columns])


def test_gradients():
    lifted = looplift.lift(diffused, verify="off", backend="torch")
    x, *rest = arguments(40, 30)
    found = []
    for run in (diffused, lifted):
        leaf = x.clone().requires_grad_()
        found += torch.autograd.grad((run(leaf, *rest) * x).sum(), leaf)
    torch.testing.assert_close(*found)
