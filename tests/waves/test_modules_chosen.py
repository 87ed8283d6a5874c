"""Modules that the data choose: all calls of one module run together, over lanes where its kind has a rule."""

import torch
from tests.waves.harness import check
from torch import nn


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = nn.Embedding(7, 4)
        self.joins = nn.ModuleDict({"and": nn.Linear(8, 4), "or": nn.Linear(8, 4), "not": nn.Linear(4, 4)})
        self.cells = nn.ModuleList([nn.GRUCell(4, 4), nn.GRUCell(4, 4)])
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 4))])
        self.mixed = nn.ModuleDict({"tanh": nn.Tanh(), "line": nn.Linear(4, 4)})

    def run(self, tree):
        if isinstance(tree, int):
            return torch.tanh(self.leaf.weight[tree])
        parts = [self.run(part) for part in tree[1:]]
        return torch.tanh(self.joins[tree[0]](torch.cat(parts)))


def joined(model, trees):
    return torch.stack([model.run(tree) for tree in trees])


def states(model, steps, h):
    out = []
    for kinds in steps:
        state = h
        for kind in kinds:
            state = model.cells[kind](state, state)
        out.append(state)
    return torch.cat(out)


def layered(model, steps, h):
    out = []
    for kinds in steps:
        state = h[0]
        for kind in kinds:
            state = model.layers[kind](state)
        out.append(state)
    return torch.stack(out)


def of_several_kinds(model, names, h):
    return torch.stack([model.mixed[name](h[0] * k) for k, name in enumerate(names)])


TREES = [3, ("not", 1), ("and", ("or", 1, 2), ("not", 3)), ("or", ("and", 5, ("or", 0, 1)), ("not", ("not", 4)))]


def test_chosen_by_the_nodes_of_trees():
    torch.manual_seed(0)
    lifted = check(joined, Chosen(), TREES, others=((Chosen(), TREES[:1]), (Chosen(), TREES[2:] * 2)))
    assert "roles='ts', lanes=True" in lifted.source


def test_chosen_by_numbers():
    torch.manual_seed(0)
    steps, h = [[0, 1, 1], [1], [0, 0], [1, 0, 1, 0]], torch.randn(1, 4)
    for program in (states, layered):
        lifted = check(program, Chosen(), steps, h, others=((Chosen(), steps[:1], h), (Chosen(), [[], [0]], h)))
        assert "roles='ts', lanes=True" in lifted.source or "roles='tts', lanes=True" in lifted.source


def test_of_several_kinds():
    names = ["tanh", "line", "tanh", "line", "line"]
    lifted = check(
        of_several_kinds, Chosen(), names, torch.randn(1, 4), others=((Chosen(), names[:1], torch.ones(1, 4)),)
    )
    assert "roles='ts', lanes=True" not in lifted.source
