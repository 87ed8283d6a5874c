"""Loops over modules whose `forward` has loops: each layer's loops are lanes, also over a batch of graphs."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from looplift import lift

WIDTH = 4
COMPLETE = [(i, j) for i in range(4) for j in range(4) if i != j]


class Messages(nn.Module):
    """Sums of messages along edges, with a count of them, node by node."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, h, edges):
        n = h.shape[0]
        m = [torch.zeros(h.shape[1]) for _ in range(n)]
        degree = [0] * n
        for i, j in edges:
            m[i] = m[i] + torch.tanh(self.message(torch.cat([h[i], h[j]])))
            degree[i] += 1
        new = []
        for i in range(n):
            new.append(h[i] + self.update(torch.cat([h[i], m[i] / max(degree[i], 1)])))
        return torch.stack(new)


class Moves(nn.Module):
    """Two lists with places of the data, and two results, of which one has gradients along edges only."""

    def __init__(self):
        super().__init__()
        self.message, self.gate = nn.Linear(2 * WIDTH + 1, WIDTH), nn.Linear(WIDTH, 1)

    def forward(self, h, x, edges):
        n = h.shape[0]
        m = [torch.zeros(h.shape[1]) for _ in range(n)]
        shift = [torch.zeros(3) for _ in range(n)]
        for i, j in edges:
            apart = x[i] - x[j]
            message = torch.tanh(self.message(torch.cat([h[i], h[j], torch.dot(apart, apart).reshape(1)])))
            m[i] = m[i] + message
            shift[i] = shift[i] + apart * self.gate(message)
        new_h, new_x = [], []
        for i in range(n):
            new_h.append(h[i] + m[i])
            new_x.append(x[i] + shift[i])
        return torch.stack(new_h), torch.stack(new_x)


def stacked(layers, h, edges):
    for layer in layers:
        h = layer(h, edges)
    return h


def moved(layers, h, x, edges):
    for layer in layers:
        h, x = layer(h, x, edges)
    return h, x


def numbered(layers, h, edges):
    for k in range(len(layers)):
        h = layers[k](h, edges)
    return h


def pooled(layers, graphs):
    out = []
    for graph in graphs:
        h = graph.h
        for layer in layers:
            h = layer(h, graph.edges)
        out.append(h.sum(0))
    return torch.stack(out)


def moved_apart(layers, graphs):
    results = []
    for graph in graphs:
        h, x = graph.h, graph.x
        for layer in layers:
            h, x = layer(h, x, graph.edges)
        results.append((h.sum(0), x - x.mean(0, keepdim=True)))
    return results


def through_a_helper(layers, graphs):
    return [stacked(layers, graph.h, graph.edges).sum(0) for graph in graphs]


def layers_of(kind, count=2):
    torch.manual_seed(3)
    return nn.ModuleList([kind() for _ in range(count)])


def nodes(n, width=WIDTH, seed=0):
    return torch.randn(n, width, generator=torch.Generator().manual_seed(seed))


def graphs_of(*sizes):
    """Graphs of so many nodes with these edges."""
    return [SimpleNamespace(h=nodes(n, seed=n), x=nodes(n, 3, seed=9 + n), edges=edges) for n, edges in sizes]


def flat(found):
    if isinstance(found, torch.Tensor):
        return [found]
    return [tensor for part in found for tensor in flat(part)]


def outcome(function, layers, *args):
    """What comes out, which of it asks for gradients, and the gradients of the parameters; or what was raised."""
    try:
        found = flat(function(layers, *args))
    except Exception as error:
        return type(error), str(error)
    weights = [torch.cos(torch.arange(one.numel(), dtype=one.dtype)).reshape(one.shape) for one in found]
    asked = [one.requires_grad for one in found]
    total = sum(((one * weight).sum() for one, weight in zip(found, weights)), torch.zeros(()))
    parameters = [parameter for parameter in layers.parameters() if parameter.requires_grad]
    if not (parameters and total.requires_grad):
        return [one.detach() for one in found], asked
    grads = torch.autograd.grad(total, parameters, allow_unused=True)
    return [one.detach() for one in found], asked, list(grads)


def assert_same(function, lifted, *args):
    found, wanted = outcome(lifted, *args), outcome(function, *args)
    if isinstance(wanted[0], type):
        assert found == wanted
    else:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


EDGES = [
    COMPLETE, [(0, 1)], [(3, -1), (-4, 0), (1, 1)], [], [(0, 1), (0, 2), (0, 3)], [(0, 4)], [(4, 0)], [(1, -5)],
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_layers_over_one_graph(backend):
    for gradients in (True, False):
        layers, moving = layers_of(Messages).requires_grad_(gradients), layers_of(Moves).requires_grad_(gradients)
        for function in (stacked, numbered):
            lifted = lift(function, verify="off", backend=backend)
            for edges in EDGES:
                assert_same(function, lifted, layers, nodes(4), edges)
        lifted = lift(moved, verify="off", backend=backend)
        for edges in EDGES:
            assert_same(moved, lifted, moving, nodes(4), nodes(4, 3, seed=1), edges)


BATCHES = [
    ((4, COMPLETE), (3, [(0, 1), (2, 0)]), (2, [(1, 0)])),
    ((4, COMPLETE), (3, []), (2, [(1, 0)])),
    ((4, []), (3, []), (2, [])),
    ((1, []), (1, [(0, 0)])),
    ((2, []), (2, [(0, 1)]), (3, [(0, -1), (-2, 2)])),
    ((3, [(0, 1)]), (2, [(0, 2)])),
    ((3, [(0, 1)]),),
    (),
]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "kind"), [(pooled, Messages), (through_a_helper, Messages), (moved_apart, Moves)])
def test_layers_over_a_batch_of_graphs(function, kind, backend):
    for gradients in (True, False):
        lifted, layers = lift(function, verify="off", backend=backend), layers_of(kind).requires_grad_(gradients)
        for batch in [*BATCHES, BATCHES[0]]:
            assert_same(function, lifted, layers, graphs_of(*batch))


@pytest.mark.parametrize(("function", "kind"), [(pooled, Messages), (through_a_helper, Messages), (moved_apart, Moves)])
def test_all_graphs_run_together(function, kind):
    lifted = lift(function, verify="off")
    lifted(layers_of(kind), graphs_of(*BATCHES[0]))
    decisions = {loop.decision for loop in lifted.report().loops}
    assert "lanes" in decisions <= {"lanes", "sequential"}
    assert "index_add_" in lifted.source


def test_a_layer_that_is_called_again():
    """The same layer's loops, in one round after the other."""

    def again(layers, h, edges):
        for _ in range(2):
            for layer in layers:
                h = layer(h, edges)
        return h

    lifted, layers = lift(again, verify="off"), layers_of(Messages)
    for edges in EDGES:
        assert_same(again, lifted, layers, nodes(4), edges)
