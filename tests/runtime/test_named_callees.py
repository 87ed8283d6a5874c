"""Loops that stay and call their own variable: what they call is lifted by itself, where it has loops."""

import ast

import pytest
import torch
from torch import nn

import looplift
from looplift.frontend.callees import calls_of_users
from looplift.runtime.named import objects_named


class Rows(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, x):
        out = []
        for i in range(x.shape[0]):
            out.append(torch.tanh(x[i] * self.scale).cumsum(0))
        return torch.stack(out)


class Shift:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        out = []
        for i in range(x.shape[0]):
            out.append(torch.sin(x[i] + self.by))
        return torch.stack(out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Rows(0.5), Rows(2.0)])
        self.named = nn.ModuleDict({"a": Rows(0.5), "b": Rows(2.0)})
        self.shifts = [Shift(0.5), Shift(2.0)]


def logged(net, x, log):
    for layer in net.layers:
        x = layer(x)
        log.append("%.3f" % x.sum())
    return x


def numbered(net, x, log):
    for k in range(len(net.layers)):
        layer = net.layers[k]
        x = layer(x)
        log.append("%.3f" % x.sum())
    return x


def counted(net, x, log):
    for k, (layer, shift) in enumerate(zip(net.layers, net.shifts)):
        x = shift.apply(layer(x))
        log.append(f"{k} {x.sum():.3f}")
    return x


def by_name(net, x, log):
    for name, layer in net.named.items():
        x = layer(x)
        log.append(f"{name} {x.sum():.3f}")
    return x


def methods(net, x, log):
    for shift in net.shifts:
        x = shift.apply(x)
        log.append("%.3f" % x.sum())
    return x


@pytest.mark.parametrize("function", [logged, numbered, counted, by_name, methods])
def test_what_is_called_is_lifted(function):
    net, lifted = Net(), looplift.lift(function, verify="off")
    for seed in range(4):
        x = torch.randn(5, 4, generator=torch.Generator().manual_seed(seed))
        logs = [], []
        found, wanted = lifted(net, x, logs[0]), function(net, x, logs[1])
        torch.testing.assert_close(found, wanted)
        assert logs[0] == logs[1]
        if wanted.requires_grad:
            parameters = list(net.parameters())
            grads = [torch.autograd.grad(one.sum(), parameters, allow_unused=True) for one in (found, wanted)]
            torch.testing.assert_close(*map(list, grads))
    decisions = {loop.function: loop.decision for loop in lifted.report().loops}
    assert decisions.pop(function.__name__) == "kept"
    assert decisions and set(decisions.values()) <= {"lanes", "native"}


def callees(text, **values):
    found = calls_of_users(ast.parse(text).body)
    return [objects_named(callee, values) for callee in found.values()]


def test_variables_of_loops_are_items():
    a, b, c = Rows(1.0), Rows(2.0), Rows(3.0)
    listed = nn.ModuleList([a, b])
    assert callees("for f in fs:\n    f(x)", fs=listed) == [[a, b]]
    assert callees("for f in reversed(fs):\n    f(x)", fs=listed) == [[a, b]]
    assert callees("for k in range(2):\n    fs[k](x)", fs=listed) == [[a, b]]
    assert callees("fs[1](x)", fs=listed) == [[b]]
    assert callees("fs['two'](x)", fs=nn.ModuleDict({"one": a, "two": b})) == [[b]]
    assert callees("for f in fs.values():\n    f(x)", fs={"one": a, "two": b}) == [[a, b]]
    assert callees("for f, g in pairs:\n    g(x)", pairs=[(a, b), (b, c)]) == [[b, c]]
    assert callees("for f in fs:\n    f(x)\nfor f in gs:\n    f(x)", fs=[a], gs=[b]) == [[a, b], [a, b]]
    assert callees("[f(x) for f in fs]", fs=(a, b)) == [[a, b]]
    assert callees("f = fs[0]\nf(x)", fs=[a, b]) == [[a]]


def test_what_is_not_known_is_nothing():
    assert callees("for f in fs:\n    f(x)") == [[]]
    assert callees("f = made()\nf(x)") == [[], []]
    assert callees("for f in fs:\n    f(x)", fs=iter([Rows(1.0)])) == [[]]
    assert callees("fs[3](x)", fs=[Rows(1.0)]) == [[]]
    assert callees("f = f.next\nf(x)", f=None) == [[None]]


def test_no_code_of_the_users_runs():
    class Watched:
        def __getattr__(self, name):
            raise AssertionError(name)

        @property
        def layers(self):
            raise AssertionError

    assert callees("for f in it.layers:\n    f(x)\nit.other(x)", it=Watched()) == [[], []]
