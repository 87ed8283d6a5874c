"""Recursive encoders over host objects, batched by waves: values and gradients are those of the loop."""

import random
import subprocess
import sys
from collections import namedtuple

import pytest
import torch
from harness import assert_same, batched, check
from torch import nn

WIDTH = 4


def grow(rng, size):
    if size == 1:
        return rng.randrange(10)
    cut = rng.randint(1, size - 1)
    return (grow(rng, cut), grow(rng, size - cut))


def forest(seed, count=5, most=9):
    rng = random.Random(seed)
    return [grow(rng, rng.randint(1, most)) for _ in range(count)]


class BinaryTree(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, WIDTH)
        self.leaf = nn.Linear(WIDTH, 2 * WIDTH)
        self.node = nn.Linear(2 * WIDTH, 5 * WIDTH)
        self.cls = nn.Linear(WIDTH, 3)

    def encode(self, tree):
        if isinstance(tree, int):
            c, o = self.leaf(self.emb.weight[tree]).chunk(2)
            return torch.sigmoid(o) * torch.tanh(c), c
        hl, cl = self.encode(tree[0])
        hr, cr = self.encode(tree[1])
        i, fl, fr, o, g = self.node(torch.cat([hl, hr])).chunk(5)
        c = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c


def stacked(model, trees):
    logits = []
    for tree in trees:
        h, _ = model.encode(tree)
        logits.append(model.cls(h))
    return torch.stack(logits)


def listed(model, trees):
    logits = []
    for tree in trees:
        h, _ = model.encode(tree)
        logits.append(model.cls(h))
    return logits


def summed(model, trees):
    total = 0
    for tree in trees:
        h, _ = model.encode(tree)
        total += model.cls(h).sum()
    return total


def averaged(model, trees):
    loss = 0.0
    for number, tree in enumerate(trees):
        h, c = model.encode(tree)
        loss = loss + torch.nn.functional.mse_loss(h, c) * (number + 1)
    return loss / len(trees)


@pytest.mark.parametrize("loop", [stacked, listed, summed, averaged])
def test_binary_trees(loop):
    torch.manual_seed(0)
    shared = (3, (1, 2))
    others = [forest(seed) for seed in range(1, 5)]
    others += [[7], [(1, 2)], [shared, (shared, shared), shared], [grow(random.Random(9), 40)]]
    check(loop, BinaryTree(), forest(0), others=tuple((BinaryTree(), trees) for trees in others))


def test_a_program_made_for_leaves_serves_trees():
    torch.manual_seed(0)
    model = BinaryTree()
    lifted = batched(stacked, model, [(1, 2), 3])
    assert_same(lifted(model, forest(3)), stacked(model, forest(3)))


def test_no_trees():
    torch.manual_seed(0)
    model = BinaryTree()
    lifted = batched(stacked, model, forest(0))
    with pytest.raises(Exception):  # the caller then runs the loop, which raises by itself
        lifted(model, [])
    assert batched(listed, model, forest(0))(model, []) == []
    assert batched(summed, model, forest(0))(model, []) == 0


def test_one_wave_per_level():
    model = BinaryTree()
    lifted = batched(stacked, model, forest(0))
    text = lifted.source
    assert "model.node(torch.cat([hl, hr], dim=1)).chunk(5, dim=1)" in text
    assert "vmap" not in text.split("def region")[1]


class Node:
    def __init__(self, vec, children=()):
        self.vec = vec
        self.children = list(children)
        self.idx = 0


def object_tree(rng, size, gradient=False):
    nodes = [Node(torch.randn(WIDTH, requires_grad=gradient)) for _ in range(size)]
    for k in range(1, size):
        nodes[rng.randrange(max(0, k - 3), k)].children.append(nodes[k])
    for k, node in enumerate(nodes):
        node.idx = k
    return nodes[0]


def vectors(node):
    return [node.vec, *(item for child in node.children for item in vectors(child))]


class ChildSum(nn.Module):
    def __init__(self):
        super().__init__()
        self.iou_x = nn.Linear(WIDTH, 3 * WIDTH)
        self.iou_h = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.f_x = nn.Linear(WIDTH, WIDTH)
        self.f_h = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, node, preds):
        states = [self.forward(child, preds) for child in node.children]
        h_sum = torch.zeros(WIDTH)
        for h, _ in states:
            h_sum = h_sum + h
        i, o, u = (self.iou_x(node.vec) + self.iou_h(h_sum)).chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u)
        for h, ck in states:
            c = c + torch.sigmoid(self.f_x(node.vec) + self.f_h(h)) * ck
        h = torch.sigmoid(o) * torch.tanh(c)
        preds[node.idx] = torch.log_softmax(h, dim=0)
        return h, c


def child_sum(model, roots):
    results = []
    for root in roots:
        preds = {}
        model(root, preds)
        results.append(torch.stack([preds[k] for k in sorted(preds)]))
    return results


@pytest.mark.parametrize("gradient", [False, True])
def test_child_sum(gradient):
    torch.manual_seed(0)
    rng = random.Random(0)
    model = ChildSum()
    roots = [object_tree(rng, rng.randint(1, 8), gradient) for _ in range(4)]
    leaves = [*model.parameters(), *(vec for root in roots for vec in vectors(root))] if gradient else None
    check(child_sum, model, roots, leaves=leaves)


class Recursive(nn.Module):
    def __init__(self):
        super().__init__()
        self.combine = nn.Linear(2 * WIDTH, WIDTH)

    def visit(self, node):
        if not node.children:
            return torch.relu(node.vec)
        parts = [self.visit(child) for child in node.children]
        pooled = torch.stack(parts).mean(0) if len(parts) > 1 else parts[0]
        return torch.tanh(self.combine(torch.cat((node.vec, pooled), dim=-1)))


def recursive(model, roots):
    return torch.stack([model.visit(root) for root in roots])


def test_lists_of_several_lengths():
    torch.manual_seed(0)
    rng = random.Random(1)
    trees = [[object_tree(rng, rng.randint(1, 12)) for _ in range(4)] for _ in range(3)]
    model = Recursive()
    check(recursive, model, trees[0], others=tuple((model, item) for item in trees[1:]))


class Dag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, WIDTH)
        self.gate = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Sigmoid())
        self.cell = nn.GRUCell(WIDTH, WIDTH)

    def state(self, v, dag, memo):
        if v in memo:
            return memo[v]
        kind, before = dag[v]
        total = torch.zeros(WIDTH)
        for u in before:
            h = self.state(u, dag, memo)
            total += self.gate(h) * h
        memo[v] = self.cell(self.emb(torch.tensor(kind)), total)
        return memo[v]

    def forward(self, dag):
        memo = {}
        return self.state(len(dag) - 1, dag, memo)


def encode_dags(model, dags):
    codes = []
    for dag in dags:
        codes.append(model(dag))
    return torch.stack(codes)


def test_dag_with_memo():
    torch.manual_seed(0)
    rng = random.Random(2)

    def dag(size):
        return [(rng.randrange(6), sorted({rng.randrange(v) for _ in range(2)}) if v else []) for v in range(size)]

    model = Dag()
    made = [[dag(rng.randint(1, 7)) for _ in range(3)] for _ in range(3)]
    check(encode_dags, model, made[0], others=tuple((model, item) for item in made[1:]))


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, WIDTH)
        self.tracker = nn.LSTMCell(2 * WIDTH, WIDTH)
        self.reduce = nn.Linear(3 * WIDTH, WIDTH)

    def encode(self, tokens, actions):
        buffer = [self.emb.weight[t] for t in reversed(tokens)]
        stack = []
        state = (torch.zeros(1, WIDTH), torch.zeros(1, WIDTH))
        empty = torch.zeros(WIDTH)
        for action in actions:
            top = stack[-1] if stack else empty
            front = buffer[-1] if buffer else empty
            state = self.tracker(torch.cat([front, top]).unsqueeze(0), state)
            if action == "shift":
                stack.append(buffer.pop())
            else:
                right = stack.pop()
                left = stack.pop()
                stack.append(torch.tanh(self.reduce(torch.cat([left, right, state[0][0]]))))
        return stack.pop()


def shift_reduce(model, sentences):
    return torch.stack([model.encode(tokens, actions) for tokens, actions in sentences])


def test_shift_reduce():
    torch.manual_seed(0)
    rng = random.Random(3)

    def actions(size):
        if size == 1:
            return ["shift"]
        cut = rng.randint(1, size - 1)
        return [*actions(cut), *actions(size - cut), "reduce"]

    def sentences():
        sizes = [rng.randint(1, 6) for _ in range(4)]
        return [([rng.randrange(9) for _ in range(size)], actions(size)) for size in sizes]

    model = Stack()
    check(shift_reduce, model, sentences(), others=((model, sentences()), (model, sentences())))


class Number:
    def __init__(self, value):
        self.value = value

    def run(self, model):
        return model.emb.weight[self.value]


class Plus:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def run(self, model):
        return torch.tanh(model.node(torch.cat([self.left.run(model), self.right.run(model)]))[:WIDTH])


class Times(Plus):
    def run(self, model):
        return self.left.run(model) * self.right.run(model)


def expressions(model, terms):
    return torch.stack([term.run(model) for term in terms])


def test_methods_of_several_classes():
    torch.manual_seed(0)
    a, b, c = Number(1), Number(2), Number(3)
    terms = [Plus(a, Times(b, c)), Times(Plus(a, b), Plus(b, c)), a, Plus(Plus(a, b), c)]
    model = BinaryTree()
    lifted = check(expressions, model, terms, others=((model, terms[:1]), (model, [b])))

    class Minus(Plus):
        pass

    with pytest.raises(KeyError):
        lifted(model, [Minus(a, b)])


State = namedtuple("State", "h count")


class Typed(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoders = nn.ModuleDict({"a": nn.Linear(WIDTH, WIDTH), "b": nn.Linear(WIDTH, WIDTH)})

    def forward(self, graph):
        memory = {}
        for name, (kind, features) in graph.items():
            memory[name] = {"h": torch.tanh(self.encoders[kind](features)), "steps": 0}
        for name in graph:
            memory[name]["steps"] += 1
            memory[name]["h"] = memory[name]["h"] * 0.5
        return memory


def typed(model, graphs):
    return [model(graph) for graph in graphs]


def test_modules_by_key_and_nested_dicts():
    torch.manual_seed(0)
    model = Typed()

    def graph(kinds):
        return {f"v{k}": (kind, torch.randn(WIDTH)) for k, kind in enumerate(kinds)}

    check(typed, model, [graph("ab"), graph("aab")], others=((model, [graph("b")]), (model, [])))


def test_gradients_that_are_absent_stay_absent():
    torch.manual_seed(0)
    model = BinaryTree()
    trees = [3, (1, 2)]
    lifted = batched(listed, model, trees)
    for function in (listed, lifted):
        model.zero_grad(set_to_none=True)
        function(model, trees)[0].sum().backward()
        assert model.node.weight.grad is None
        assert model.leaf.weight.grad is not None


def test_results_own_their_memory():
    torch.manual_seed(0)
    model = BinaryTree()
    results = batched(listed, model, forest(0))(model, forest(0))
    assert len({item.untyped_storage().data_ptr() for item in results}) == len(results)
    assert all(item._base is None for item in results)
    results[0].mul_(2)
    sum(item.sum() for item in results).backward()
    result = batched(stacked, model, forest(0))(model, forest(0))
    result.mul_(2).sum().backward()


def test_closure():
    torch.manual_seed(0)
    model = BinaryTree()
    weight = torch.randn(WIDTH, WIDTH, requires_grad=True)

    def visit(tree):
        if isinstance(tree, int):
            return model.emb.weight[tree] @ weight
        return torch.tanh(visit(tree[0]) + weight @ visit(tree[1]))

    def loop(model, weight, visit, trees):
        return torch.stack([visit(tree) for tree in trees])

    lifted = batched(loop, model, weight, visit, forest(0))
    assert_same(lifted(model, weight, visit, forest(1)), loop(model, weight, visit, forest(1)))


def visit(tree, table):
    return table[tree] if isinstance(tree, int) else torch.tanh(visit(tree[0], table) - visit(tree[1], table))


def visits(table, trees):
    return torch.stack([visit(tree, table) for tree in trees])


def test_emitted_text_needs_no_package(tmp_path):
    lifted = batched(visits, torch.eye(10), forest(0))
    expected = visits(torch.eye(10), forest(1)).tolist()
    script = tmp_path / "script.py"
    script.write_text(
        f"{lifted.source}\nimport sys\n"
        f"result, = region(torch.eye(10), {forest(1)!r})\n"
        f"torch.testing.assert_close(result, torch.tensor({expected!r}))\n"
        "assert not any('looplift' in name for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, script], check=True)
