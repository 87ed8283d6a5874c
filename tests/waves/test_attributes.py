"""Programs that keep states on the nodes of trees: objects get their attributes when all is done."""

import copy
from dataclasses import dataclass, field

import pytest
import torch
from tests.waves.harness import assert_same, batched
from torch import nn

import looplift
from looplift.base.errors import NotLiftable


class Node:
    def __init__(self, word, *children):
        self.word, self.children = word, list(children)
        self.h = None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.up, self.out = nn.Embedding(20, 4), nn.Linear(4, 4), nn.Linear(4, 3)
        self.iou, self.cell = nn.Linear(4, 12), nn.LSTMCell(4, 4)

    def encode(self, node):
        s = torch.zeros(4)
        for child in node.children:
            self.encode(child)
            s = s + self.up(child.h)
        node.h = torch.tanh(s + self.emb(torch.tensor(node.word)))

    def pairs(self, node):
        for child in node.children:
            self.pairs(child)
        h = torch.zeros(1, 4)
        c = torch.zeros(1, 4)
        for child in node.children:
            h = h + child.state[0]
            c = c + child.state[1]
        node.state = self.cell(self.emb(torch.tensor(node.word)).unsqueeze(0), (h, c))
        return node.state

    def unpacked(self, node):
        for child in node.children:
            self.unpacked(child)
        if node.children:
            h = torch.stack([child.h for child in node.children]).sum(0)
        else:
            h = torch.zeros(4)
        i, o, u = self.iou(h + self.emb(torch.tensor(node.word))).chunk(3)
        node.c, node.h = torch.sigmoid(i) * torch.tanh(u), torch.sigmoid(o)
        node.depth = 1 + max([child.depth for child in node.children], default=0)

    def down(self, node, above, out):
        node.g = torch.tanh(self.up(node.h) + above)
        out.append(self.out(node.g))
        for child in node.children:
            self.down(child, node.g, out)


def tree(n, offset=0):
    """A tree of ``n`` nodes."""
    nodes = [Node((k + offset) % 20) for k in range(n)]
    for k in range(1, n):
        nodes[(k * 7 + offset) % k].children.append(nodes[k])
    return nodes[0]


def roots_of(model, trees):
    out = []
    for one in trees:
        model.encode(one)
        out.append(model.out(one.h))
    return out


def states_of(model, trees):
    return [model.pairs(one)[0] for one in trees]


def depths_of(model, trees):
    for one in trees:
        model.unpacked(one)
    return [one.depth for one in trees]


def up_and_down(model, trees):
    out = []
    for one in trees:
        model.encode(one)
        model.down(one, torch.zeros(4), out)
    return out


def attributes(node):
    """Everything on a tree, in the order in which the attributes were set."""
    found = []
    for name, value in vars(node).items():
        if name != "children":
            found.append((name, list(value) if isinstance(value, tuple) else value))
    return [dict(found), [attributes(child) for child in node.children]]


def loss_of(values):
    parts = [values] if isinstance(values, torch.Tensor) else []
    if isinstance(values, (list, tuple)):
        parts = [loss_of(value) for value in values]
    elif isinstance(values, dict):
        parts = [loss_of(value) for value in values.values()]
    return sum((part * part).sum() if isinstance(part, torch.Tensor) else part for part in parts)


PROGRAMS = (roots_of, states_of, depths_of, up_and_down)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("sizes", [(1,), (2,), (5, 1, 9), (12, 7, 7, 3)])
def test_as_the_loop(program, sizes):
    torch.manual_seed(0)
    model = Model()
    trees = [tree(n, k) for k, n in enumerate(sizes)]
    lifted = batched(program, model, trees)
    for again in range(2):  # the second call finds what the first one left
        others = copy.deepcopy([tree(n, k + again) for k, n in enumerate(sizes)])
        for got_trees, want_trees in ((trees, trees), (others, copy.deepcopy(others))):
            model.zero_grad()
            want = program(model, want_trees)
            wanted = [attributes(one) for one in want_trees]
            loss_of([want, wanted]).backward()
            gradients = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
            model.zero_grad()
            got = lifted(model, got_trees)
            assert_same(got, want)
            found = [attributes(one) for one in got_trees]
            assert_same(found, wanted)
            loss_of([got, found]).backward()
            assert_same([p.grad for p in model.parameters()], gradients)


def test_the_same_object_is_returned_and_kept():
    model, trees = Model(), [tree(5), tree(3, 1)]
    lifted = batched(states_of, model, trees)
    for result, one in zip(lifted(model, trees), trees, strict=True):
        assert result is one.state[0]


def test_states_have_memory_of_their_own():
    model, trees = Model(), [tree(9)]
    with torch.no_grad():
        batched(roots_of, model, trees)(model, trees)
        kept = trees[0].h.clone()
        trees[0].children[0].h.zero_()
        assert torch.equal(trees[0].h, kept)


def counted(model, trees):
    for one in trees:
        one.visits += 1
        one.h = torch.tanh(model.up(model.emb(torch.tensor(one.word)))) * one.visits
    return [one.h for one in trees]


def test_what_stands_there_before_is_read():
    model, trees = Model(), [tree(1, k) for k in range(4)]
    for k, one in enumerate(trees):
        one.visits = k
    others = copy.deepcopy(trees)
    lifted = batched(counted, model, trees)
    for _ in range(3):
        assert_same(lifted(model, trees), counted(model, others))
        assert [one.visits for one in trees] == [one.visits for one in others]


class Counting(Node):
    """A property that changes its object."""

    visits = 0

    @property
    def next(self):
        self.visits += 1
        return self.visits


def pair_of(model, node, log):
    log.append(node.word)
    return [(torch.tanh(model.emb(torch.tensor(node.next))).unsqueeze(0), torch.zeros(1, 4))]


def properties(model, trees):
    log = []
    states = [torch.cat(pair_of(model, one, log)[0]) for one in trees]
    return torch.cat(states), log


def test_calls_that_set_attributes_run_once():
    model, trees = Model(), [Counting(k) for k in range(4)]
    others = copy.deepcopy(trees)
    lifted = batched(properties, model, trees)
    for _ in range(3):
        assert_same(lifted(model, trees), properties(model, others))
        assert [one.visits for one in trees] == [one.visits for one in others]


def test_nothing_is_set_where_the_program_gives_way():
    model, trees = Model(), [tree(5), tree(3)]
    lifted = batched(roots_of, model, trees)
    trees[1].children[0].word = "word"
    with pytest.raises(Exception):
        lifted(model, trees)
    assert trees[0].h is None and trees[1].h is None


def test_the_loop_raises_as_written():
    model, trees = Model(), [tree(5), tree(3)]
    lifted = looplift.lift(roots_of)
    lifted(model, trees)
    trees, others = ([tree(5), tree(3)] for _ in range(2))
    trees[1].word = others[1].word = 99
    for program, given in ((lifted, trees), (roots_of, others)):
        with pytest.raises(IndexError):
            program(model, given)
    assert [one.h is None for one in trees] == [one.h is None for one in others] == [False, True]


@dataclass
class Shown:
    word: int
    children: list = field(default_factory=list)
    h: object = None


class Checked(Node):
    @property
    def state(self):
        return self._state

    @state.setter
    def state(self, value):
        self._state = value


class Watched(Node):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def shown(model, trees):
    texts = []
    for one in trees:
        one.h = torch.tanh(model.emb(torch.tensor(one.word)))
        texts.append(f"{one}")
    return texts


def compared(model, trees):
    found = []
    for one in trees:
        one.h = torch.tanh(model.emb(torch.tensor(one.word)))
        found.append(one == trees[0])
    return found


def viewed(model, trees):
    for one in trees:
        one.h = model.emb.weight[one.word]
    return [torch.tanh(one.h) for one in trees]


@pytest.mark.parametrize(
    "program, trees",
    [
        (shown, [Shown(1), Shown(2)]),
        (compared, [Shown(1), Shown(2)]),
        (states_of, [Checked(1), Checked(2)]),
        (roots_of, [Watched(1), Watched(2)]),
    ],
)
def test_kept_where_other_code_may_look(program, trees):
    with pytest.raises(NotLiftable):
        batched(program, Model(), trees)


def test_another_class_in_another_call_gives_way():
    model = Model()
    lifted = batched(roots_of, model, [tree(3)])
    with pytest.raises(NotImplementedError):
        lifted(model, [Watched(1)])
    assert_same(batched(roots_of, model, [Shown(1)])(model, [Shown(2)]), roots_of(model, [Shown(2)]))


def test_views_share_memory():
    with pytest.raises(NotLiftable, match="share memory"):
        batched(viewed, Model(), [tree(1)])


def test_lifted():
    model = Model()
    for program in PROGRAMS:
        lifted = looplift.lift(program)
        for k in range(4):
            trees = [tree(n, k) for n in (4, 1, 6)]
            others = copy.deepcopy(trees)
            assert_same(lifted(model, trees), program(model, others))
            assert_same([attributes(one) for one in trees], [attributes(one) for one in others])


def test_turns_with_the_loop_set_the_same():
    """Waves that set attributes were not compared with the loop, so they take turns with it at first."""
    model, trees = Model(), [Counting(k) for k in range(4)]
    others = copy.deepcopy(trees)
    lifted = looplift.lift(properties)
    for _ in range(12):
        assert_same(lifted(model, trees), properties(model, others))
        assert [one.visits for one in trees] == [one.visits for one in others]
