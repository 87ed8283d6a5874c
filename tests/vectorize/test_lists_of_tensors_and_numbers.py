"""Lists of lists in which some items are tensors and others are numbers, after a call where all were tensors."""

import pytest
import torch

from looplift import lift


def table(rows, like):
    return torch.stack([torch.stack([torch.as_tensor(v, dtype=like.dtype) for v in row]) for row in rows])


def single(items):
    out = torch.zeros(len(items))
    for k in range(len(items)):
        out[k] = items[k] * 2
    return out


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_numbers_among_tensors_raise_nothing_of_their_own(backend, gradients):
    like = torch.ones(1, dtype=torch.float64)
    a, b = torch.tensor([1.5, 2.5], dtype=torch.float64, requires_grad=gradients)
    lifted = lift(table, verify="off", backend=backend)
    mixed = [[a, 0.0], [0.0, b]]
    for rows in ([[a, b], [b, a]], mixed, mixed, mixed, mixed, [[b, 1]], [[0.0, 2.0]], [["x"]], []):
        assert "internal" not in {loop.code for loop in lifted.report().loops}, str(lifted.report())
        wanted = found = None
        try:
            wanted = table(rows, like)
        except (RuntimeError, TypeError) as error:
            wanted = type(error), str(error)
        try:
            found = lifted(rows, like)
        except (RuntimeError, TypeError) as error:
            found = type(error), str(error)
        if isinstance(wanted, tuple):
            assert found == wanted
            continue
        assert found.dtype == wanted.dtype and torch.equal(found, wanted), lifted.report()
        assert found.requires_grad == wanted.requires_grad


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_numbers_among_single_tensors(backend):
    lifted = lift(single, verify="off", backend=backend)
    for items in ([torch.tensor(1.0), torch.tensor(2.0)], [torch.tensor(1.0), 3.0], [2, torch.tensor(1.0)], [1.0, 2.0]):
        for _ in range(2):
            assert torch.equal(lifted(items), single(items))
    assert "internal" not in {loop.code for loop in lifted.report().loops}, str(lifted.report())
