"""Uniform numbers that iterations draw are drawn at once where that leaves the same numbers and the same generator."""

from __future__ import annotations

import pytest
import torch

from looplift import lift
from looplift.base.streams import numbers_alike


def numbers(x):
    out = torch.zeros(len(x), dtype=torch.float64)
    for i in range(len(x)):
        out[i] = x[i] + torch.rand((), dtype=torch.float64)
    return out


def rows(x):
    out = torch.zeros(len(x), 2)
    for i in range(len(x)):
        out[i] = torch.rand(2) + torch.sin(x[i])
    return out


def blocks(x):
    out = torch.zeros(len(x), 2, 3)
    for i in range(len(x)):
        out[i] = torch.rand((2, 3)) * x[i]
    return out


def normal(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] + torch.randn(())
    return out


@pytest.mark.parametrize(("function", "text"), [
    (numbers, "torch.rand(n, dtype=torch.float64)"), (rows, "torch.rand(n, 2)"), (blocks, "torch.rand(n, 2, 3)"),
    (normal, "torch.stack"),
])  # fmt: skip
@pytest.mark.parametrize("count", [1, 7, 16, 40])
def test_the_numbers_and_the_generator_are_those_of_the_loop(function, text, count):
    lifted, x = lift(function, verify="off", backend="torch"), torch.arange(float(count))
    for _ in range(2):
        torch.manual_seed(3)
        found, after = lifted(x), torch.get_rng_state()
        torch.manual_seed(3)
        assert torch.allclose(found, function(x), rtol=1e-6) and torch.equal(after, torch.get_rng_state())
    assert text.replace("(n", "(x.shape[0]") in lifted.source or text in lifted.source, lifted.source


def test_this_version_of_torch_numbers_alike():
    assert numbers_alike()


class Dropping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)
        self.rate_of_the_numbers_that_are_dropped, self.works_in_place = 0.3, False

    def forward(self, x):
        h = torch.relu(self.layer(x))
        rate = self.rate_of_the_numbers_that_are_dropped
        return self.last(torch.nn.functional.dropout(h, rate, self.training, self.works_in_place))


def repeated(module, x, times):
    ys = []
    for _ in range(times):
        ys.append(module(x))
    return torch.stack(ys)


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_a_draw_of_a_long_text_is_drawn_in_each_iteration(backend):
    module, x = Dropping(), torch.randn(3, 5)
    lifted = lift(repeated, verify="off", backend=backend)
    for _ in range(2):
        torch.manual_seed(3)
        found, after = lifted(module, x, 6), torch.get_rng_state()
        torch.manual_seed(3)
        assert torch.allclose(found, repeated(module, x, 6), rtol=1e-5) and torch.equal(after, torch.get_rng_state())
