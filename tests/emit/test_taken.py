"""Elements chosen by index tensors: what is emitted for them equals the loop, negative and bad indices too."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def rows(x, places):
    out = torch.zeros(len(places), x.shape[1])
    for i in range(len(places)):
        out[i] = x[places[i, 0]]
    return out


def columns(x, places):
    found = []
    for i in range(len(places)):
        found.append(x[:, places[i, 0]])
    return torch.stack(found)


def table(x, places):
    out = torch.zeros(places.shape[0], places.shape[1], x.shape[1])
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            out[i, j] = x[places[i, j]]
    return out


def rest_of_each(x, places):
    out = torch.zeros(places.shape)
    for i in range(len(places)):
        out[i] = x[i, places[i]]
    return out


def one_of_each(x, places):
    total = torch.zeros(())
    for i in range(len(places)):
        total = total - x[i, places[i, 0]] ** 2
    return total


def one_of_each_column(x, places):
    out = torch.zeros(places.shape[0])
    for j in range(places.shape[0]):
        out[j] = x[places[j, 0], j]
    return out


def chosen_pairs(x, places):
    out = torch.zeros(places.shape)
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            if places[i, j] > 0:
                out[i, j] = x[i, places[i, j]]
    return out


LOOPS = [rows, columns, table, rest_of_each, one_of_each, one_of_each_column, chosen_pairs]


def outcome(function, x, places):
    x = x.clone().requires_grad_(x.requires_grad)
    try:
        result = function(x, places)
    except Exception as error:
        return repr(error)
    return (result, torch.autograd.grad((result**2).sum(), x)) if result.requires_grad else result


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("loop", LOOPS)
def test_taken(loop, dtype, gradients):
    generator = torch.Generator().manual_seed(3)
    lifted = lift(loop, verify="off", backend="torch")
    x = torch.randn(4, 4, generator=generator, requires_grad=gradients)
    for low, high, shape in (
        (0, 4, (4, 3)),
        (-4, 4, (4, 3)),
        (0, 4, (2, 3)),
        (-5, 5, (4, 6)),
        (1, 4, (4, 1)),
        (0, 4, (0, 3)),
    ):
        places = torch.randint(low, high, shape, generator=generator, dtype=dtype)
        assert difference(outcome(lifted, x, places), outcome(loop, x, places)) is None
    assert "taken" in lifted.source
