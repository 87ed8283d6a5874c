"""Tensors that loops fill place by place, or add to: one store of all rows, where nothing reads them before."""

import pytest
import torch
from tests.waves.harness import assert_same, batched, check
from torch import nn

from looplift import lift

WIDTH = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.register_buffer("order", torch.arange(20).flip(0))

    def forward(self, tree):
        if isinstance(tree, tuple):
            return torch.tanh(self.join(torch.cat([self(tree[0]), self(tree[1])])))
        return self.leaf(tree)

    def largest(self, trees):
        table = torch.zeros(len(trees), WIDTH)
        for i, tree in enumerate(trees):
            table[i] = self(tree)
        return table.max(dim=0).values


def trees_of(*shapes):
    def grown(shape):
        return torch.randn(WIDTH) if shape == 0 else tuple(map(grown, shape))

    torch.manual_seed(len(shapes))
    return [grown(shape) for shape in shapes]


SHAPES = [((0, 0), 0), 0, (0, (0, (0, 0))), (0, 0), 0]


def rows(model, trees):
    out = torch.zeros(len(trees), WIDTH)
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    return out


def rows_of_more(model, trees):
    out = torch.ones((len(trees) + 2, WIDTH))
    for i, tree in enumerate(trees):
        out[i + 1, :] = model(tree)
    return out * 2


def scores_in_empty_memory(model, trees):
    scores = torch.empty(len(trees))
    for i in range(len(trees)):
        scores[i] = model(trees[i]).sum()
    return scores.mean(), scores


def pairs(model, trees):
    out = torch.zeros(len(trees), len(trees))
    for i in range(len(trees)):
        for j in range(len(trees)):
            if i != j:
                out[i, j] = torch.dot(model(trees[i]), model(trees[j]))
    return out


def rows_of_rows(model, trees):
    out = torch.zeros(len(trees), len(trees))
    for i in range(len(trees)):
        row = torch.zeros(len(trees))
        for j in range(len(trees)):
            row[j] = (model(trees[i]) * model(trees[j])).sum()
        out[i] = row
    return out


def sums(model, trees):
    out = torch.zeros(3, WIDTH)
    table = torch.zeros(3, 2)
    for i, tree in enumerate(trees):
        out[i % 3] += model(tree)
        table[i % 3, i % 2] += model(tree).mean()
    out /= len(trees)
    return out, table / len(trees)


def two_loops(model, trees):
    out = torch.zeros(2 * len(trees), WIDTH)
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    for i, tree in enumerate(trees):
        out[i + len(trees)] = 2 * model(tree)
    return out


def some_rows(model, trees):
    out = torch.zeros(len(trees), WIDTH)
    for i, tree in enumerate(trees):
        if isinstance(tree, tuple):
            out[i] = model(tree)
        elif i % 2:
            out[i] = model.leaf(tree)
    return out.sum(0), model(trees[0])


def no_rows(model, trees):
    out = torch.zeros(len(trees), WIDTH)
    for i, tree in enumerate(trees):
        if isinstance(tree, str):
            out[i] = model(tree)
    return out, model(trees[0])


def places(model, trees):
    found = torch.zeros(len(trees), dtype=torch.long)
    for i, tree in enumerate(trees):
        found[i] = model(tree).argmax()
    return found


def by_tensors(model, trees):
    out = torch.zeros(20, WIDTH)
    for i, tree in zip(model.order, trees):
        out[i] = model(tree)
    return out


def in_a_method(model, trees):
    return torch.stack([model.largest(trees[: k + 1]) for k in range(len(trees))])


PROGRAMS = [rows, rows_of_more, scores_in_empty_memory, pairs, rows_of_rows, sums, two_loops, some_rows, no_rows,
            places, by_tensors, in_a_method]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_as_the_loop(program):
    others = ((Model(), trees_of(0)), (Model(), trees_of((0, 0), 0)), (Model(), trees_of(*SHAPES * 2)))
    check(program, Model(), trees_of(*SHAPES), others=others)


def repeated(model, trees):
    out = torch.zeros(3, WIDTH)
    for i, tree in enumerate(trees):
        out[i % 3] = model(tree)
    return out


def beyond(model, trees):
    out = torch.zeros(3, WIDTH)
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    return out


def of_another_shape(model, trees):
    out = torch.zeros(len(trees), WIDTH)
    for i, tree in enumerate(trees):
        out[i] = model(tree).sum()
    return out


def of_another_dtype(model, trees):
    out = torch.zeros(len(trees), WIDTH, dtype=torch.float64)
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    return out


def not_all_of_empty_memory(model, trees):
    out = torch.empty(len(trees) + 1, WIDTH)
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    return out[:-1] * 2


@pytest.mark.parametrize(
    "program",
    [repeated, beyond, of_another_shape, of_another_dtype, not_all_of_empty_memory],
    ids=lambda one: one.__name__,
)
def test_other_stores_are_left_to_the_loop(program):
    lifted = batched(program, Model(), trees_of(*SHAPES))
    with pytest.raises((NotImplementedError, IndexError)):
        lifted(Model(), trees_of(*SHAPES))


def with_another_name(model, trees):
    out = torch.zeros(len(trees), WIDTH)
    kept = [out]
    for i, tree in enumerate(trees):
        out[i] = model(tree)
    return out, kept


def read_between(model, trees):
    out = torch.zeros(len(trees) + 1, WIDTH)
    for i, tree in enumerate(trees):
        out[i + 1] = model(tree) + out[i].detach()
    return out


def handed_out_and_changed(model, trees):
    found = []
    for k in range(3):
        out = torch.zeros(len(trees), WIDTH)
        for i, tree in enumerate(trees):
            out[i] = model(tree) * k
        found.append(out)
        out[0] = model(trees[0])
    return found


@pytest.mark.parametrize(
    "program",
    [with_another_name, read_between, handed_out_and_changed, beyond, repeated],
    ids=lambda one: one.__name__,
)
def test_what_is_read_between_stores(program):
    lifted, model = lift(program), Model()
    for trees in (trees_of(*SHAPES[:3]), trees_of(0), trees_of(*SHAPES[:3])):
        assert_same(lifted(model, trees), program(model, trees))
