"""Programs over host structure of many kinds: queues, recurrences, attention over lists, dicts, dataclasses."""

import random
from collections import defaultdict, deque
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from harness import check
from torch import nn

WIDTH = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, WIDTH)
        self.lin = nn.Linear(WIDTH, WIDTH)
        self.lin2 = nn.Linear(2 * WIDTH, WIDTH)
        self.cell = nn.LSTMCell(WIDTH, WIDTH)
        self.gru = nn.GRUCell(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.seq = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        self.vector = nn.Parameter(torch.randn(WIDTH))
        self.matrix = nn.Parameter(torch.randn(WIDTH, WIDTH))
        self.register_buffer("buffer", torch.randn(3, WIDTH))
        self.factor = 2

    @staticmethod
    def act(x):
        return torch.tanh(x)

    def leaf(self, t, scale=1.0):
        return self.act(self.lin(self.emb(torch.tensor(t)))) * scale

    def compose(self, a, b, *, gate=None):
        if gate is None:
            return F.relu(self.lin2(torch.cat([a, b])))
        return F.relu(self.lin2(torch.cat([a, b]))) * torch.sigmoid(gate)

    def encode(self, tree, depth=0):
        """Gated at every other level."""
        if type(tree) is int:
            return self.leaf(tree, scale=0.5)
        left = self.encode(tree[0], depth + 1)
        right = self.encode(tree[1], depth=depth + 1)
        if depth % 2:
            return self.compose(left, right)
        return self.compose(left, right, gate=self.vector)


def encode_trees(model, trees):
    return torch.stack([model.encode(tree) for tree in trees])


def recurrent(model, sentences):
    out = []
    for sentence in sentences:
        h = torch.zeros(WIDTH)
        c = torch.zeros(WIDTH)
        for word in sentence:
            h, c = model.cell(model.emb(torch.tensor(word)), (h, c))
        out.append(h)
    return torch.stack(out)


def recurrent_from_none(model, sentences):
    out = []
    for sentence in sentences:
        state = None
        states = []
        for x in sentence:
            state = model.cell(x.unsqueeze(0), state) if state is not None else model.cell(x.unsqueeze(0))
            states.append(state[0].squeeze(0))
        out.append(torch.stack(states).mean(0))
    return out


def by_layers(model, items):
    out = {}
    for word, count in items:
        h = model.emb(torch.tensor(word))
        for layer in model.layers:
            h = torch.relu(layer(h))
        for i in range(count):
            h = h + model.layers[i](h)
        out[word] = h
    return out


def best_score(model, items):
    best = None
    total = 0.0
    count = 0
    for word in items:
        value = model.seq(model.lin(model.emb.weight[word])).squeeze()
        total = total + value
        count += 1
        best = value if best is None else torch.maximum(best, value)
    return best, total / count


def attention(model, sentences):
    out = []
    for sentence in sentences:
        states = [model.leaf(word) for word in sentence]
        weights = torch.softmax(torch.stack([torch.dot(h, model.vector) for h in states]), dim=0)
        out.append(sum(weights[i] * states[i] for i in range(len(states))))
    return torch.stack(out)


def queue(model, trees):
    out = []
    for tree in trees:
        waiting = deque([tree])
        found = []
        while waiting:
            item = waiting.popleft()
            if isinstance(item, int):
                found.append(model.emb.weight[item])
            else:
                waiting.extend(item)
        most = found[0]
        for other in found[1:]:
            most = torch.max(most, other)
        out.append(model.norm(most))
    return out


def matrices(model, items):
    out = []
    for word in items:
        a = torch.outer(model.emb.weight[word], model.vector)
        b = a @ model.matrix + model.matrix @ a
        out.append((b @ model.emb.weight[word]) * torch.trace(a))
    return torch.stack(out).sum(0)


def incoming(model, edges):
    sources = defaultdict(list)
    for a, b in edges:
        sources[b].append(a)
    h = {}
    for node in sorted(sources):
        message = torch.zeros(WIDTH)
        for source in sources[node]:
            message += model.lin(model.emb.weight[source])
        h[node] = model.gru(message, model.emb.weight[node])
    return h


@dataclass
class DataNode:
    tag: str
    children: list
    x: torch.Tensor = None


def data_node(rng, depth=0):
    if depth > 3 or rng.random() < 0.3:
        return DataNode("leaf", [], torch.randn(WIDTH))
    return DataNode(rng.choice("pn"), [data_node(rng, depth + 1) for _ in range(rng.randint(1, 3))])


def value_of(model, node):
    if node.x is not None:
        return model.lin(node.x)
    parts = [value_of(model, child) for child in node.children]
    product = parts[0]
    for part in parts[1:]:
        product = product * part
    if node.tag == "n":
        product = -product
    return product


def data_nodes(model, nodes):
    return [value_of(model, node) for node in nodes]


def constants(model, items):
    return torch.stack([model.emb.weight[i] * model.factor + model.buffer[i % 3] for i in items])


def slices(model, pairs):
    return torch.stack([model.emb.weight[i][:2] + model.emb.weight[j][2:] for i, j in pairs])


def lengths(model, sentences):
    """Rows of several lengths, each kind in a batch of its own."""
    return [torch.cat([model.emb.weight[word] for word in sentence]).cumsum(0) * 2 for sentence in sentences]


def grow(rng, size):
    if size == 1:
        return rng.randrange(10)
    cut = rng.randint(1, size - 1)
    return (grow(rng, cut), grow(rng, size - cut))


def arguments(seed):
    """For each program its arguments besides the model."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    trees = [grow(rng, rng.randint(1, 8)) for _ in range(rng.randint(1, 5))]
    words = [[rng.randrange(10) for _ in range(rng.randint(1, 5))] for _ in range(rng.randint(1, 4))]
    vectors = [[torch.randn(WIDTH) for _ in sentence] for sentence in words]
    numbers = [rng.randrange(10) for _ in range(rng.randint(1, 5))]
    pairs = [(rng.randrange(10), rng.randrange(3)) for _ in range(rng.randint(1, 5))]
    nodes = [data_node(rng) for _ in range(3)]
    return {
        encode_trees: trees, recurrent: words, recurrent_from_none: vectors, by_layers: pairs, best_score: numbers,
        attention: words, queue: trees, matrices: numbers, incoming: pairs, data_nodes: nodes, constants: numbers,
        slices: pairs, lengths: words,
    }  # fmt: skip


@pytest.mark.parametrize("program", list(arguments(0)), ids=lambda program: program.__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_programs(program, seed):
    model = Model()
    others = tuple((model, arguments(number)[program]) for number in range(seed + 1, seed + 5))
    check(program, model, arguments(seed)[program], others=others)


def distances(xs, ys):
    out = []
    for i in range(len(xs)):
        out.append((xs[i] - ys[i]).pow(2).sum().sqrt())
    return torch.stack(out)


def test_rows_of_tensors():
    xs, ys = torch.randn(5, 3, requires_grad=True), torch.randn(5, 3)
    check(distances, xs, ys, others=((xs[:1].detach(), ys[:1]),), leaves=[xs])
