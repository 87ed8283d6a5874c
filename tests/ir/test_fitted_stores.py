"""Values with leading dimensions of one element are stored to places without them. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check
from torch import nn

from looplift import lift

torch.manual_seed(0)
X, W = torch.randn(5, 4), torch.randn(5, 4)
LINE, LAYER = torch.randn(5), nn.Linear(4, 1)


def scores(x, layer):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = layer(x[i])
    return out


def elements(x, w):
    out = torch.zeros(len(x), 4)
    for i in range(len(x)):
        for t in range(4):
            out[i, t] = x[i] * w[i, t : t + 1]
    return out


def rows(w):
    out = torch.zeros(len(w), 3)
    for i in range(len(w)):
        out[i] = w[i : i + 1, :3] * 2
    return out


def parts(w):
    out = torch.zeros(len(w), 4)
    for i in range(len(w)):
        out[i, 1:3] = w[None, i : i + 1, 1:3]
    return out


def of_noise(x, steps):
    out = torch.zeros(len(x), steps)
    for i in range(len(x)):
        for t in range(1, steps):
            z = torch.randn(1)
            out[i, t] = out[i, t - 1] + x[i] * z
    return out


def widths(w, k):
    out = torch.zeros(len(w))
    for i in range(len(w)):
        out[i] = w[i, :k]
    return out


@pytest.mark.parametrize(
    ("function", "values"),
    [(scores, [X, LAYER]), (elements, [LINE, W]), (rows, [W]), (parts, [W])],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_the_loop_and_its_lifted_form_agree(function, values):
    check(function, values, decisions={"lanes"})


def test_what_is_drawn_is_stored_so_too():
    lifted = lift(of_noise, verify="off", backend="torch")
    torch.manual_seed(2)
    wanted = of_noise(LINE, 6)
    for _ in range(2):
        torch.manual_seed(2)
        torch.testing.assert_close(lifted(LINE, 6), wanted)
    assert "kept" not in [loop.decision for loop in lifted.report().loops]


def test_a_later_call_raises_the_error_of_the_loop():
    lifted = lift(widths, verify="off", backend="torch")
    assert torch.equal(lifted(W, 1), widths(W, 1))
    with pytest.raises(RuntimeError) as wanted:
        widths(W, 2)
    with pytest.raises(RuntimeError) as found:
        lifted(W, 2)
    assert str(found.value) == str(wanted.value)
