"""Linear maps of joined tensors of which a loop carries some: the sum of the maps of each, where that is the same."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check, outcome
from torch import nn

from looplift import lift
from looplift.base.compare import difference


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype) * 0.4


def carried_first(x, w, b, h):
    hs = []
    for t in range(x.shape[0]):
        h = torch.tanh(torch.nn.functional.linear(torch.cat([h, x[t]], -1), w, b))
        hs.append(h)
    return torch.stack(hs)


def carried_last(x, w, b, h):
    for x_t in x:
        h = torch.tanh(torch.cat((x_t, h), dim=1) @ w.t() + b)
    return h


def rows(x, w, b, h):
    ends = []
    for i in range(x.shape[1]):
        state = h[i]
        for t in range(x.shape[0]):
            state = torch.tanh(w @ torch.cat([x[t, i], state]) + b)
        ends.append(state)
    return torch.stack(ends)


def three(x, w, b, h):
    for t in range(x.shape[0]):
        h = torch.tanh(torch.nn.functional.linear(torch.cat([x[t, :, :1], x[t, :, 1:], h], 1), w, b))
    return h


def read_elsewhere(x, w, b, h):
    totals = []
    for t in range(x.shape[0]):
        both = torch.cat([x[t], h], 1)
        totals.append(both.sum())
        h = torch.tanh(torch.nn.functional.linear(both, w, b))
    return h, torch.stack(totals)


@pytest.mark.parametrize("function", [carried_first, carried_last, rows, three, read_elsewhere])
def test_maps_in_parts(function):
    calls = [[draw(t, n, 4), draw(6, 10, seed=1), draw(6, seed=2), draw(n, 6, seed=3)] for t, n in ((5, 3), (2, 2))]
    decisions = {"sequential"} if function is not rows else {"lanes", "sequential"}
    check(function, *calls, decisions=decisions)
    lifted = lift(function, verify="off", backend="torch")
    lifted(*calls[0])
    assert function in (three, read_elsewhere) or "torch.cat" not in lifted.source


def test_sizes_that_are_not_joined_are_the_loops():
    lifted = lift(carried_last, verify="off", backend="torch")
    weights = [draw(6, 10, seed=1), draw(6, seed=2)]
    lifted(draw(5, 3, 4), *weights, draw(3, 6))
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        lifted(draw(5, 3, 4), *weights, draw(2, 6))
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        lifted(draw(5, 1, 4), *weights, draw(3, 6))


def sliced(x, k, w, h):
    for t in range(x.shape[0]):
        h = torch.tanh(torch.cat([x[t, :k], h], 1) @ w)
    return h


def test_one_row_is_not_stretched():
    lifted = lift(sliced, verify="off", backend="torch")
    x, w, h = draw(5, 4, 4), draw(10, 6, seed=1), draw(3, 6, seed=2)
    assert not difference(lifted(x, 3, w, h), sliced(x, 3, w, h), magnitude=1.0, path="result")
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        lifted(x, 1, w, h)


def deciding(x, w, b, h):
    count = 0
    for t in range(x.shape[0]):
        h = torch.tanh(torch.nn.functional.linear(torch.cat([x[t], h], 1), w, b))
        if h.sum() > 0:
            count += 1
    return h, count


def changing(x, w, b, h):
    for t in range(x.shape[0]):
        h = torch.tanh(torch.nn.functional.linear(torch.cat([x[t], h], 1), w, b))
        w = w * 1.1
    return h


@pytest.mark.parametrize("function", [deciding, changing])
def test_maps_that_stay(function):
    lifted = lift(function, verify="off", backend="torch")
    arguments = [draw(5, 3, 4), draw(6, 10, seed=1), draw(6, seed=2), draw(3, 6, seed=3)]
    found, wanted = (outcome(one, arguments, gradients=True) for one in (lifted, function))
    assert not difference(found, wanted, magnitude=1.0, path="call")
    assert "torch.cat" in lifted.source


def test_half_precision_stays():
    arguments = [draw(5, 3, 4), draw(6, 10, seed=1), draw(6, seed=2), draw(3, 6, seed=3)]
    arguments = [one.bfloat16() for one in arguments]
    lifted = lift(carried_last, verify="off", backend="torch")
    assert torch.equal(lifted(*arguments), carried_last(*arguments))


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(7, 4, dtype=torch.float64), nn.Linear(7, 2, bias=False, dtype=torch.float64)

    def forward(self, x, h):
        both = torch.cat((x, h), 1)
        return self.out(both), torch.tanh(self.hidden(both))


def of_a_module(cell, x):
    h, outs = torch.zeros(x.shape[1], 4, dtype=x.dtype), []
    for x_t in x:
        out, h = cell(x_t, h)
        outs.append(out)
    return torch.stack(outs), h


def gradients_of(function, cell, x):
    cell.zero_grad()
    outs, h = function(cell, x)
    (outs.sum() + h.square().sum()).backward()
    return [outs, h, *(parameter.grad.clone() for parameter in cell.parameters())]


def test_layers_of_a_module():
    torch.manual_seed(0)
    cell, x = Cell(), draw(6, 2, 3)
    lifted = lift(of_a_module, verify="off", backend="torch")
    assert not difference(gradients_of(lifted, cell, x), gradients_of(of_a_module, cell, x), magnitude=1.0, path="g")
    assert "cell.hidden.weight" in lifted.source
    cell.hidden.register_forward_hook(lambda module, inputs, output: output * 2)
    assert not difference(gradients_of(lifted, cell, x), gradients_of(of_a_module, cell, x), magnitude=1.0, path="g")


def test_layers_with_and_without_a_bias_are_two_variants():
    torch.manual_seed(0)
    x, lifted = draw(6, 2, 3), lift(of_a_module, verify="off", backend="torch")
    for bias in (False, True, False):
        cell = Cell()
        cell.hidden = nn.Linear(7, 4, bias=bias, dtype=torch.float64)
        assert not difference(
            gradients_of(lifted, cell, x), gradients_of(of_a_module, cell, x), magnitude=1.0, path="g"
        )
