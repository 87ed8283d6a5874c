"""What is read at a place that a tensor of one number tells is a view in torch, and so it is of batched code."""

import pytest
import torch

import looplift


def places_of_one_number(x, y, m, places):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return y[places[0]], m[places[1]], m[:, places[0]], m[places[0], places[1]], m[places[0], 1:], m[places], total


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_what_is_a_view_in_the_loop_is_one_of_the_same_memory(backend):
    x, y, m, places = torch.rand(6), torch.rand(4), torch.rand(4, 4), torch.tensor([2, 1])
    lifted = looplift.lift(places_of_one_number, backend=backend)
    for _ in range(3):
        found, wanted = lifted(x, y, m, places), places_of_one_number(x, y, m, places)
        for one, other in zip(found[:-1], wanted[:-1], strict=True):
            assert torch.equal(one, other)
            assert one.stride() == other.stride()
            shared = one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
            assert shared == (other is not wanted[5])
    found[0].fill_(7)
    assert y[2] == 7
