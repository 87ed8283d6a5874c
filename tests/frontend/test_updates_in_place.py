"""Methods that change a row in place are stores."""

import pytest
import torch

from looplift import lift


def accumulate(x):
    out = torch.zeros(3, x.shape[1])
    for i in range(len(x)):
        out[i % 3].add_(x[i])
    return out


def scale(x):
    for i in range(len(x)):
        x[i].add_(i)
        x[i].mul_(2)
        x[i].sub_(x[i].sum())
        x[i].div_(3)
    return x


def fill(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i].fill_(i)
    return out


def clear(x):
    for i in range(len(x)):
        x[i, 1:].zero_()
    return x


def mirror(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i].copy_(x[-1 - i])
    return out


@pytest.mark.parametrize("loop", [accumulate, scale, fill, clear, mirror])
@pytest.mark.parametrize("rows", [1, 5])
def test_the_same_memory_changes(loop, rows):
    x = torch.randn(rows, 4)
    ours, theirs = x.clone(), x.clone()
    lifted = lift(loop)
    torch.testing.assert_close(lifted(ours), loop(theirs))
    torch.testing.assert_close(ours, theirs)
    assert {record.decision for record in lifted.report().loops} == {"lanes"}


def test_integers_take_no_floats():
    def add(x, values):
        for i in range(len(x)):
            x[i].add_(values[i])
        return x

    with pytest.raises(RuntimeError, match="can't be cast"):
        lift(add)(torch.zeros(3, dtype=torch.int64), torch.rand(3))
