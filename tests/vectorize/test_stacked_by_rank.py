"""Lists that a loop fills with rows or columns: ``vstack``, ``hstack`` and ``column_stack`` of items of any rank."""

import numpy as np
import pytest
import torch

from looplift import lift

JOINS = ("vstack", "hstack", "column_stack")


def of_numpy(join):
    def vstack(x):
        found = []
        for i in range(x.shape[0]):
            found.append(x[i] * 2 - x[i].sum())
        return np.vstack(found)

    def hstack(x):
        found = []
        for i in range(x.shape[0]):
            found.append(x[i] * 2 - x[i].sum())
        return np.hstack(found)

    def column_stack(x):
        return np.column_stack([x[i] * 2 - x[i].sum() for i in range(x.shape[0])])

    return {"vstack": vstack, "hstack": hstack, "column_stack": column_stack}[join]


def of_torch(join):
    def vstack(x):
        return torch.vstack([x[i] * 2 - x[i].sum() for i in range(x.shape[0])])

    def hstack(x):
        return torch.hstack([x[i] * 2 - x[i].sum() for i in range(x.shape[0])])

    def column_stack(x):
        found = []
        for i in range(x.shape[0]):
            found.append(x[i] * 2 - x[i].sum())
        return torch.column_stack(found)

    return {"vstack": vstack, "hstack": hstack, "column_stack": column_stack}[join]


@pytest.mark.parametrize("made", [of_numpy, of_torch])
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("shape", [(5, 4), (5, 1), (1, 3), (4, 3, 2), (4, 2, 3, 2)])
def test_lists_are_joined_as_their_items_ask(made, join, shape):
    loop = made(join)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = x.numpy() if made is of_numpy else x.requires_grad_()
    lifted = lift(loop, backend="torch", verify="off")
    mine, theirs = lifted(values), loop(values)
    assert type(mine) is type(theirs)
    torch.testing.assert_close(torch.as_tensor(mine), torch.as_tensor(theirs))
    if made is of_torch:
        weights = torch.randn(theirs.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        slopes = [torch.autograd.grad((out * weights).sum(), values)[0] for out in (mine, theirs)]
        torch.testing.assert_close(*slopes)
    assert [one.decision for one in lifted.report().loops] == ["lanes"]


@pytest.mark.parametrize("made", [of_numpy, of_torch])
@pytest.mark.parametrize("join", JOINS)
def test_nothing_to_join_and_numbers(made, join):
    loop = made(join)
    lifted = lift(loop, backend="torch", verify="off")
    empty, flat = torch.zeros(0, 3), torch.arange(3.0)
    for x in (empty, flat):
        values = x.numpy() if made is of_numpy else x
        try:
            wanted = loop(values)
        except (ValueError, RuntimeError) as error:
            with pytest.raises(type(error)):
                lifted(values)
        else:
            torch.testing.assert_close(torch.as_tensor(lifted(values)), torch.as_tensor(wanted))
