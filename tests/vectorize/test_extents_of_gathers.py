"""What is read at index tensors has their extents: it is stored as it is where these are those of the place."""

import pytest
import torch

from looplift import lift


def of_all(values, index):
    picked = torch.zeros(index.shape)
    for b in range(values.shape[0]):
        picked[b] = values[b, index[b]]
    return picked


def of_first(values, index):
    picked = torch.zeros(values.shape[0], index.shape[1])
    for b in range(values.shape[0]):
        picked[b] = values[b, index[b]] * 2
    return picked


def of_wider(values, index):
    picked = torch.zeros(values.shape[0], 4)
    for b in range(values.shape[0]):
        picked[b] = values[b, index[b]]
    return picked


def of_both(values, index):
    picked = torch.zeros(values.shape[0], index.shape[1])
    for b in range(values.shape[0]):
        picked[b] = values[index[b], index[0]]
    return picked


def rows(values, index):
    picked = torch.zeros(index.shape[0], index.shape[1], values.shape[1])
    for b in range(index.shape[0]):
        picked[b] = values[index[b]]
    return picked


def outcome(function, values, index):
    try:
        found = function(values, index)
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)
    kept = found.stride(), found.requires_grad
    if found.requires_grad:
        slope = torch.arange(found.numel(), dtype=found.dtype).view(found.shape)
        return found.detach(), kept, torch.autograd.grad((found * slope).sum(), values)[0]
    return found, kept, None


def same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other)
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def table(n, m, asks):
    return torch.randn(n, m, generator=torch.Generator().manual_seed(n)).requires_grad_(asks)


CHOICES = {
    "as many": torch.tensor([[0, 2, 1, -1], [1, 1, 0, 2], [2, 0, 0, 1]]),
    "turned": torch.tensor([[0, 1, 2], [2, 1, 0], [1, 0, 0], [0, 0, 1]]).T,
    "more rows": torch.tensor([[0], [1], [2], [0], [1]]),
    "one each": torch.tensor([[0], [1], [2]]),
    "fewer rows": torch.tensor([[0, 2], [1, 1]]),
    "too large": torch.tensor([[0, 1, 2, 3], [0, 1, 2, 5], [0, 0, 0, 0]]),
    "none": torch.zeros(3, 0, dtype=torch.int64),
    "small integers": torch.tensor([[0, 2, 1, 1], [1, 1, 0, 2], [2, 0, 0, 1]], dtype=torch.int32),
}


@pytest.mark.parametrize("function", [of_all, of_first, of_wider, of_both, rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("asks", [False, True])
def test_values_and_gradients_are_the_loop_s(function, backend, asks):
    for first in ("as many", "one each", "more rows"):
        lifted = lift(function, backend=backend)
        for name in (first, *CHOICES):
            index = CHOICES[name]
            wanted = outcome(function, table(3, 3, asks), index)
            same(outcome(lifted, table(3, 3, asks), index), wanted)


def test_nothing_is_made_wider_that_has_its_width():
    lifted = lift(of_all, verify="off")
    lifted(table(3, 3, False), CHOICES["as many"])
    assert "expand" not in lifted.source.partition("def of_all")[2], lifted.source
