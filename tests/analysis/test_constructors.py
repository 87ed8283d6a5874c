"""Tensors that types of torch's make inside of loops, as ``torch.LongTensor(ids)``, of lists, sizes and tensors."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from looplift import lift
from looplift.base.compare import difference

EMBEDDED = torch.arange(36.0).view(9, 4).sin()


def means_of_lists(lists):
    return torch.stack([torch.LongTensor(ids).float().mean() for ids in lists])


def rows_taken(lists):
    return torch.stack([EMBEDDED[torch.LongTensor(ids)].sum(0) for ids in lists])


def unit_vectors(lists):
    out = []
    for ids in lists:
        v = torch.FloatTensor([ids[-1] - 0.5, ids[0] + 0.5, 2.0])
        out.append(v / v.norm())
    return torch.stack(out)


def losses(lists):
    total = 0
    for ids in lists:
        total = total + F.cross_entropy(EMBEDDED[:1], torch.LongTensor([ids[0] % 4]))
    return total


def list_of_numbers(lists):
    found = []
    for k in range(len(lists)):
        found.append((EMBEDDED[k % 9] ** 2).sum().item())
    return torch.Tensor(found), torch.DoubleTensor(found)


def flags(lists):
    return torch.stack([torch.BoolTensor([len(ids) > 1, ids[0] == 3]).any() for ids in lists])


def with_sizes(lists):
    out = torch.FloatTensor(9, 4).zero_()
    for ids in lists:
        for k in ids:
            out[k] += EMBEDDED[k]
    return out


LIFTED = [means_of_lists, rows_taken, unit_vectors, losses, list_of_numbers, flags, with_sizes]


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_lists_of_numbers(function, backend, count):
    lists = [[(5 * k + j) % 9 for j in range(1 + k % 4)] for k in range(count)]
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        try:
            wanted = function(lists)
        except RuntimeError as error:
            with pytest.raises(RuntimeError) as raised:
                lifted(lists)
            assert str(raised.value) == str(error)
        else:
            assert not difference(lifted(lists), wanted)
    if count == 40 and backend == "auto":
        assert "kept" not in {loop.decision for loop in lifted.report().loops}


def truncated(values):
    return [torch.LongTensor([value, 2 * value]) for value in values]


def same_memory(values):
    made = []
    for value in values:
        t = torch.FloatTensor(value)
        t += 1
        made.append(t)
    return made


@pytest.mark.parametrize("function", [truncated, same_memory])
def test_others_have_no_lanes(function):
    values = [1.7, -2.5] if function is truncated else torch.zeros(3, 2)
    again = values if function is truncated else values.clone()
    lifted = lift(function, backend="torch", verify="off")
    assert not difference(lifted(values), function(again))
    assert not difference(values, again)
    assert "other than numbers in lists" in str(lifted.report())


def test_programs_call_constructors():
    lifted = lift(truncated, verify="off")
    for values in ([1.7, -2.5], [3.0], []):
        assert not difference(lifted(values), truncated(values))
