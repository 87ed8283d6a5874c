"""Numbers, flags and text that methods of network modules set are as the loop leaves them, also where it raises."""

import copy

import pytest
import torch
from torch import nn

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Node:
    def __init__(self, label, *children):
        self.label, self.children = label, list(children)


class Walker(nn.Module):
    """Counts what its recursive method meets."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(6, 3)
        self.mix = nn.Linear(3, 3)
        self.seen = 0
        self.total = 0
        self.deepest = None
        self.text = ""
        self.odd = False

    def step(self):
        self.seen += 1
        return self.seen

    def visit(self, node, h, depth):
        h = torch.tanh(self.mix(h) + self.table(torch.tensor(node.label)))
        order = self.seen * 100 + self.step()
        self.total = self.total + order if node.label % 2 else self.total + 0.5 * order
        self.odd = not self.odd
        if self.deepest is None or depth > self.deepest:
            self.deepest = depth
            self.text += str(node.label)
        loss = h.square().sum() * (1 / (5 - node.label))
        for child in node.children:
            loss = loss + self.visit(child, h, depth + 1)
        return loss


def walk_all(module, trees):
    losses = []
    for tree in trees:
        losses.append(module.visit(tree, torch.zeros(3), 0))
    return torch.stack(losses).sum(), module.seen


TREE = Node(1, Node(2, Node(3)), Node(4), Node(0, Node(1, Node(2))))


def numbers(module):
    return {name: (type(value), value) for name, value in vars(module).items() if type(value) in (*PLAIN, type(None))}


PLAIN = (bool, int, float, str)


def assert_same(got, want):
    """Results are close, or one exception with one message."""
    if isinstance(want, str) or isinstance(want[0], str):
        assert got == want
    else:
        torch.testing.assert_close(got, want)


def runs_alike(function, make, *given, backend, times=3, native=True, between=lambda module: None):
    lifted = lift(function, backend=backend, verify="off")
    mine, theirs = make(), make()
    for _ in range(times):
        results = []
        for one, module in ((lifted, mine), (function, theirs)):
            between(module)
            module.zero_grad()
            try:
                result = one(module, *given)
                result[0].backward()
            except Exception as error:
                result = type(error).__name__, str(error)
            results.append((result, [p.grad for p in module.parameters()], numbers(module)))
        (got, slopes, held), (want, wanted, wanted_held) = results
        assert_same(got, want)
        torch.testing.assert_close(slopes, wanted)
        assert held == wanted_held
    found = any(loop.decision == "native" for loop in lifted.report().loops)
    assert native is None or found == (native and backend != "torch"), lifted.report()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("trees", [[TREE, Node(0), TREE], [TREE]], ids=["several", "one"])
def test_what_a_recursive_method_counts(trees, backend):
    runs_alike(walk_all, Walker, trees, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_exception_in_the_middle(backend):
    """What was counted until then stays, as in the loop."""
    runs_alike(walk_all, Walker, [TREE, Node(1, Node(5), Node(2))], backend=backend, native=None)
    runs_alike(walk_all, Walker, [TREE, Node(1, Node(9), Node(2))], backend=backend, native=None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_exception_after_calls_that_went_well(backend):
    lifted = lift(walk_all, backend=backend, verify="off")
    mine, theirs = Walker(), Walker()
    for trees in ([TREE, TREE], [TREE, Node(0)], [Node(1, Node(5))], [TREE], [Node(1, Node(7))], [TREE]):
        results = []
        for one, module in ((lifted, mine), (walk_all, theirs)):
            try:
                result = one(module, trees)
            except Exception as error:
                result = type(error).__name__, str(error)
            results.append((result, numbers(module)))
        assert_same(results[0][0], results[1][0])
        assert results[0][1] == results[1][1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("begins", [0, 0.0, True, 2.5, 2**62, float("nan")])
def test_other_kinds_to_begin_with(begins, backend):
    def between(module):
        module.total = begins

    lifted = lift(walk_all, backend=backend, verify="off")
    mine, theirs = Walker(), Walker()
    for trees in ([TREE, TREE], [TREE], [TREE, Node(1)]):
        for module in (mine, theirs):
            between(module)
        torch.testing.assert_close(lifted(mine, trees), walk_all(theirs, trees))
        assert str(numbers(mine)) == str(numbers(theirs))


class Pair(nn.Module):
    def __init__(self, shared):
        super().__init__()
        self.left = Walker()
        self.right = self.left if shared else Walker()
        self.seen = 0

    def visit(self, tree):
        self.seen += 10
        first = self.left.visit(tree, torch.zeros(3), 0)
        kept = self.right.seen
        second = self.right.visit(tree, torch.ones(3), 0)
        return first + kept * second


def walk_pairs(pair, trees):
    loss = torch.zeros(())
    for tree in trees:
        loss = loss + pair.visit(tree)
    return loss, pair.left.seen, pair.right.seen, pair.seen


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", [(False, True, False), (True, False, True)])
def test_one_module_by_two_paths(order, backend):
    lifted = lift(walk_pairs, backend=backend, verify="off")
    for shared in order:
        mine, theirs = Pair(shared), Pair(shared)
        for _ in range(2):
            torch.testing.assert_close(lifted(mine, [TREE, TREE]), walk_pairs(theirs, [TREE, TREE]))
            assert numbers(mine.left) == numbers(theirs.left)
            assert numbers(mine.right) == numbers(theirs.right)


def test_it_is_compared_with_the_loop():
    lifted = lift(walk_all, backend="native")
    mine, theirs = Walker(), Walker()
    for _ in range(4):
        torch.testing.assert_close(lifted(mine, [TREE, TREE]), walk_all(theirs, [TREE, TREE]))
        assert numbers(mine) == numbers(theirs)
    assert any(loop.decision == "native" for loop in lifted.report().loops)


class Watched(Walker):
    """Whoever sets its counter is noticed."""

    def __init__(self):
        super().__init__()
        vars(self).pop("seen", None)
        self.log = []

    @property
    def seen(self):
        return vars(self).get("_seen", 0)

    @seen.setter
    def seen(self, value):
        vars(self)["_seen"] = value
        if "log" in vars(self):
            self.log.append(value)


class Limited(Walker):
    def __setattr__(self, name, value):
        super().__setattr__(name, min(value, 7) if name == "seen" else value)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [Watched, Limited])
def test_what_setting_does_besides_is_done(make, backend):
    runs_alike(walk_all, make, [TREE, TREE], backend=backend, native=None)
    lifted = lift(walk_all, backend=backend, verify="off")
    plain, mine, theirs = Walker(), make(), make()
    lifted(plain, [TREE, TREE])
    lifted(plain, [TREE, TREE])
    torch.testing.assert_close(lifted(mine, [TREE, TREE]), walk_all(theirs, [TREE, TREE]))
    assert str(vars(mine).get("log")) == str(vars(theirs).get("log")) and mine.seen == theirs.seen


def forget(module):
    vars(module).pop("seen", None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_attribute_that_is_not_there(backend):
    lifted = lift(walk_all, backend=backend, verify="off")
    mine, theirs = Walker(), Walker()
    for there in (True, True, False, True):
        if not there:
            forget(mine), forget(theirs)
        results = []
        for one, module in ((lifted, mine), (walk_all, theirs)):
            try:
                results.append(one(module, [TREE, TREE]))
            except AttributeError as error:
                results.append(str(error))
        assert_same(*results)
        for module in (mine, theirs):
            module.seen = vars(module).get("seen", 3)
        assert numbers(mine) == numbers(theirs)


class Last(Walker):
    """Keeps a tensor in the place of a number."""

    def visit(self, node, h, depth):
        loss = super().visit(node, h, depth)
        self.total = loss.detach()
        return loss


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_tensor_in_the_place_of_a_number(backend):
    lifted = lift(walk_all, backend=backend, verify="off")
    mine, theirs = Last(), Last()
    for _ in range(2):
        mine.total = theirs.total = 0
        torch.testing.assert_close(lifted(mine, [TREE]), walk_all(theirs, [TREE]))
        torch.testing.assert_close(mine.total, theirs.total)


def walk_and_return(module, trees, limit):
    for tree in trees:
        loss = module.visit(tree, torch.zeros(3), 0)
        if module.seen > limit:
            return loss, module.seen
    return torch.zeros(()), -1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("limit", [0, 9, 1000])
def test_results_of_several_returns(limit, backend):
    lifted = lift(walk_and_return, backend=backend, verify="off")
    mine, theirs = Walker(), Walker()
    for _ in range(3):
        mine.seen = theirs.seen = 0
        torch.testing.assert_close(lifted(mine, [TREE, TREE], limit), walk_and_return(theirs, [TREE, TREE], limit))
        assert numbers(mine) == numbers(theirs)


def test_a_copy_of_a_module_has_numbers_of_its_own():
    lifted = lift(walk_all, backend="native", verify="off")
    mine = Walker()
    lifted(mine, [TREE, TREE])
    other = copy.deepcopy(mine)
    lifted(other, [TREE, TREE])
    assert (mine.seen, other.seen) == (14, 28)
