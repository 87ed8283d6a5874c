"""Short loops that fill a list which is then joined: how often they run decides how large what is joined is."""

import pytest
import torch
from torch import nn

from looplift import lift


class Encoded(nn.Module):
    """A point by sines and cosines of several frequencies, in one of the ways in which it is written."""

    def __init__(self, count, way):
        super().__init__()
        self.count, self.way = count, way
        self.layer = nn.Linear(3 + 6 * count, 4)

    def forward(self, p):
        return torch.tanh(self.layer(self.way(p, self.count)))


def appended(p, count):
    parts = [p]
    for k in range(count):
        parts.append(torch.sin(2.0**k * p))
        parts.append(torch.cos(2.0**k * p))
    return torch.cat(parts, dim=-1)


def extended(p, count):
    parts = [p]
    for k in range(count):
        parts += [torch.sin(2.0**k * p), torch.cos(2.0**k * p)]
    return torch.cat(parts)


def of_known_numbers(p, count):
    parts = [p]
    for factor in (1.0, 2.0):
        parts.append(torch.sin(factor * p))
        parts.append(torch.cos(factor * p))
    return torch.cat(parts)


def rows(module, x):
    out = []
    for i in range(x.shape[0]):
        out.append(module(x[i]))
    return torch.stack(out)


@pytest.mark.parametrize("way", (appended, extended, of_known_numbers), ids=lambda way: way.__name__)
def test_the_loop_is_unrolled(way):
    lifted, x = lift(rows, verify="off", backend="torch"), torch.randn(5, 3)
    module = Encoded(2, way)
    torch.testing.assert_close(lifted(module, x), rows(module, x))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def given(x, w, count):
    out = []
    for i in range(x.shape[0]):
        parts = [x[i]]
        for k in range(count):
            parts.append(x[i] * k)
            parts.append(x[i] + k)
        out.append(w @ torch.cat(parts))
    return torch.stack(out)


def test_the_number_is_the_callers():
    lifted, x = lift(given, verify="off", backend="torch"), torch.randn(5, 3)
    for count in (2, 2, 1, 3, 0, 2, True):
        w = torch.randn(4, 3 + 6 * count)
        torch.testing.assert_close(lifted(x, w, count), given(x, w, count))
    with pytest.raises(TypeError):
        lifted(x, torch.randn(4, 15), 2.0)
    with pytest.raises(RuntimeError):
        lifted(x, torch.randn(4, 14), 2)


def weighed(x, step, count):
    out = []
    for i in range(x.shape[0]):
        passed, total = torch.ones(1), torch.zeros(2)
        for s in range(count):
            opaque = 1 - torch.exp(-torch.relu(x[i, :1]) * step * (s + 1))
            total = total + passed * opaque * x[i]
            passed = passed * (1 - opaque)
        out.append(total + passed)
    return torch.stack(out)


def test_factors_that_are_numbers_of_python_are_asked_whether_they_are_finite():
    lifted, x = lift(weighed, verify="off", backend="torch"), torch.randn(5, 2).requires_grad_()
    for step in (0.5, 0.25, float("inf")):
        torch.testing.assert_close(lifted(x, step, 3), weighed(x, step, 3), equal_nan=True)
    found, expected = (torch.autograd.grad(run(x, 0.5, 3).sum(), x)[0] for run in (lifted, weighed))
    torch.testing.assert_close(found, expected)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}
