"""Elements of a tensor of the caller's that are handed out as rows of one are views of it, as in the loop."""

import pytest
import torch

from looplift import lift


def unsqueezed(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].unsqueeze(-1))
    return out


def subscript(x):
    out = []
    for i in range(len(x)):
        out.append(x[i][None])
    return out


def one_of_them(x):
    best = x[0].unsqueeze(0)
    for i in range(1, len(x)):
        if x[i] > best[0]:
            best = x[i].unsqueeze(0)
    return best


def computed(x):
    out = []
    for i in range(len(x)):
        out.append((x[i] * 2).unsqueeze(-1))
    return out


def joined(x):
    row = x[0].unsqueeze(0)
    for i in range(1, len(x)):
        row = torch.cat([row, x[i].unsqueeze(0) * 2])
    return row


def shared(found, x):
    rows = found if isinstance(found, list) else [found]
    return [row.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for row in rows]


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("function", [unsqueezed, subscript, one_of_them, computed, joined])
def test_views_are_views(function, backend):
    lifted, x = lift(function, verify="off", backend=backend), torch.tensor([0.5, -1.0, 2.0, 0.0])
    for _ in range(2):
        found, wanted = lifted(x), function(x)
        torch.testing.assert_close(found, wanted)
        assert shared(found, x) == shared(wanted, x)
