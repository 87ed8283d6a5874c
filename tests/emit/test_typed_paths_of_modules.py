"""Modules under modules in typed programs: lists of parameters, places that a loop counts, and choices by the data."""

import copy

import pytest
import torch
from tests.emit.test_typed_modules import assert_same, gradients
from tests.emit.test_typed_tensors import first
from torch import nn

from looplift import lift

__all__ = ["first"]
SIZE = 3


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(SIZE, SIZE)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x, times=1.0):
        return torch.tanh(self.layer(x)) * self.scale * times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(SIZE, SIZE) for _ in range(2)])
        self.weights = nn.ParameterList([torch.randn(SIZE) for _ in range(2)])
        self.by_kind = nn.ModuleList([nn.ModuleList([nn.Linear(SIZE, SIZE) for _ in range(3)]) for _ in range(2)])
        self.gates = nn.ModuleList([Gate(), Gate()])
        self.named = nn.ModuleDict({"a": Gate(), "b": Gate()})
        self.norm = nn.LayerNorm(SIZE)
        self.plain = nn.LayerNorm(SIZE, bias=False)
        self.cell, self.long = nn.GRUCell(SIZE, SIZE), nn.LSTMCell(SIZE, SIZE)

    def apply_one(self, layer, x, p):
        return torch.relu(layer(x)) + p

    def write(self, place, x):
        return torch.softmax(self.layers[place](x), dim=-1)


class Weights(Net):
    def forward(self, rows, kinds):
        out = []
        for x in rows:
            total = 0
            for layer, p in zip(self.layers, self.weights):
                x = self.apply_one(layer, x, p) * p
                total = total + x
            for p in self.weights:
                total = total + p * [2 * p.sum() for p in self.weights][0] + sum(p for p in kinds)
            out.append(total)
        return torch.stack(out)


class Places(Net):
    def forward(self, rows, kinds):
        out = []
        for x, kind in zip(rows, kinds):
            for r, own in enumerate(self.layers):
                h = own(x) + self.weights[r] + self.gates[1 - r](x, times=0.5)
                if kind > 0:
                    h = h + self.by_kind[r][kind](sum(row for row in rows))
                x = torch.relu(h) + self.write(r, x)
            out.append(x)
        return torch.stack(out)


class Choices(Net):
    def forward(self, rows, kinds):
        out = {}
        for k, (x, kind) in enumerate(zip(rows, kinds)):
            place = kind % 2
            y = self.by_kind[place][kind](x) + self.gates[place].layer(x)
            out[k] = y + self.named["ab"[place]].layer(y) + self.gates[-1 - place].forward(x)
        return torch.stack([out[k] for k in out])


class Matrices(Net):
    def forward(self, rows, kinds):
        out, states = [], {}
        for x, kind in zip(rows, kinds):
            both = torch.stack([x, 2 * x, x - 1])
            y = self.norm(both) + self.plain(both) * self.norm(x)
            h, c = states.get(kind, (torch.zeros(SIZE), torch.zeros(SIZE)))
            h, c = self.long(x.unsqueeze(0), (h.unsqueeze(0), c.unsqueeze(0)))
            states[kind] = (h.squeeze(0), c.squeeze(0))
            out.append(self.cell(y, both).sum(0) + states[kind][0])
        return torch.stack(out)


class Loops(Net):
    """Names that loops over modules bind anew, leave early, or use afterwards."""

    def forward(self, rows, kinds):
        out = []
        for x, kind in zip(rows, kinds):
            for r, layer in enumerate(self.layers):
                if kind > 1 and r == 1:
                    break
                x = layer(x) + self.weights[r]
            for r, layer in enumerate(self.layers):
                r = r + kind
                x = x + layer(x) * r
            out.append(x)
        return torch.stack(out)


class Anew(Net):
    def forward(self, rows, kinds):
        out = []
        for x in rows:
            for p in self.weights:
                x = x + p
                p = p * 2
                x = x * p
            out.append(x)
        return torch.stack(out)


def run(net, given):
    return net(*given)


def given(count, dtype):
    g = torch.Generator().manual_seed(count)
    rows = [torch.randn(SIZE, generator=g).to(dtype) for _ in range(count)]
    return rows, [k % 3 for k in range(count)]


KINDS = (Weights, Places, Choices, Matrices, Loops, Anew)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients_are_the_loops(kind, dtype, first):
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    try:
        net, lifted = kind(), lift(run, verify="off")
        for one in (net, copy.deepcopy(net)):
            for count in (4, 1, 3):
                assert_same(gradients(lifted, one, given(count, dtype)), gradients(run, one, given(count, dtype)))
        with torch.no_grad():
            assert_same(lifted(net, given(4, dtype)), run(net, given(4, dtype)))
    finally:
        torch.set_default_dtype(torch.float32)
    native = any(loop.decision == "native" for loop in lifted.report().loops)
    assert native is (kind is not Anew), lifted.report()


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("kind", KINDS)
def test_on_backends(kind, backend):
    torch.manual_seed(0)
    net = kind()
    lifted = lift(run, backend=backend)
    for count in (3, 5):
        some = given(count, torch.float32)
        assert_same(gradients(lifted, net, some), gradients(run, net, some))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("kinds", [[0, 3, 1], [0, -1, -4], [-7, 0, 0], [], [1]])
@pytest.mark.parametrize("kind", [Places, Choices])
def test_places_that_are_none(kind, kinds, backend):
    torch.manual_seed(0)
    net, lifted = kind(), lift(run, verify="off", backend=backend)
    rows, usual = given(3, torch.float32)
    for some in (usual, kinds, usual):
        results = []
        for function in (lifted, run):
            try:
                results.append(gradients(function, net, (rows[: len(some)], some)))
            except Exception as error:
                results.append((type(error), str(error)))
        assert_same(results[0], results[1])


CHANGES = {
    "a layer": lambda net: net.by_kind[0].__setitem__(1, nn.Linear(SIZE, SIZE)),
    "one more": lambda net: net.by_kind[1].append(nn.Linear(SIZE, SIZE)),
    "a weight": lambda net: net.weights.__setitem__(0, nn.Parameter(torch.ones(SIZE))),
    "another activation": lambda net: net.by_kind[0].__setitem__(1, nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh())),
    "fewer weights": lambda net: setattr(net, "weights", nn.ParameterList([torch.ones(SIZE)])),
    "a small number": lambda net: setattr(net.norm, "eps", 0.5),
    "a hook": lambda net: net.gates[0].register_forward_hook(lambda module, given, found: found * 2),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [Weights, Places, Choices, Matrices])
def test_modules_that_change(kind, change, first):
    torch.manual_seed(0)
    net, lifted = kind(), lift(run, verify="off")
    some = given(4, torch.float32)
    assert_same(gradients(lifted, net, some), gradients(run, net, some))
    CHANGES[change](net)
    for _ in range(2):
        results = []
        for function in (lifted, run):
            try:
                results.append(gradients(function, net, some))
            except Exception as error:
                results.append((type(error), str(error)))
        assert_same(*results)


class Wrong(Net):
    def forward(self, rows, kinds):
        out = []
        for x in rows:
            for layer, p in zip(self.layers, self.weights):
                out.append(self.apply_one(layer, x, p, x))
        return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_too_many_arguments(backend):
    lifted = lift(run, verify="off", backend=backend)
    for function in (run, lifted):
        with pytest.raises(TypeError, match="takes 4 positional arguments but 5 were given"):
            function(Wrong(), given(2, torch.float32))
