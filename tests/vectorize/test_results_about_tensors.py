"""What is said of a tensor that the loop makes, handed out beside it: of the loop's types, and no copy of a tensor."""

import pytest
import torch

from looplift import lift


def shape(x):
    o = torch.zeros(x.shape)
    for j in range(x.shape[1]):
        o[:, j] = x[:, j] * 2
    return o, o.shape


def size(x):
    o = torch.zeros(x.shape)
    for j in range(x.shape[1]):
        o[:, j] = x[:, j] * 2
    return o, (o.size(), o.T.shape)


def stride(x):
    o = torch.zeros(x.shape)
    for j in range(x.shape[1]):
        o[:, j] = x[:, j] * 2
    return o, o.stride()


def kinds(x):
    o = torch.zeros(x.shape)
    for j in range(x.shape[1]):
        o[:, j] = x[:, j] * 2
    return o, o.dtype, o.device, o.layout


def listed(x):
    o = torch.zeros(x.shape)
    for j in range(x.shape[1]):
        o[:, j] = x[:, j] * 2
    return o, o.tolist()


@pytest.mark.parametrize("function", [shape, size, stride, kinds, listed])
def test_results(function):
    lifted = lift(function, verify="off", backend="torch")
    for rows in (4, 2):
        found, wanted = lifted(torch.ones(rows, 3)), function(torch.ones(rows, 3))
        assert repr(found) == repr(wanted)
    assert [one.decision for one in lifted.report().loops] == ["lanes"]
