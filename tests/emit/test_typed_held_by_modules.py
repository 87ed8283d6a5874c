"""Lists, dicts and objects of the user's that network modules hold are inputs of programs, read at each call."""

import pytest
import torch
from torch import nn

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def basis(x, i, k, knots):
    if k == 0:
        return 1.0 if knots[i] <= x < knots[i + 1] else 0.0
    left = (x - knots[i]) / (knots[i + k] - knots[i]) * basis(x, i, k - 1, knots)
    right = (knots[i + k + 1] - x) / (knots[i + k + 1] - knots[i + 1]) * basis(x, i + 1, k - 1, knots)
    return left + right


class Spline(nn.Module):
    def __init__(self):
        super().__init__()
        self.knots = torch.linspace(-0.5, 1.5, 9).tolist()
        self.coef = nn.Parameter(torch.linspace(-1, 1, 6))
        self.order = 2

    def forward(self, x):
        s = 0.0
        for b in range(len(self.coef)):
            s = s + self.coef[b] * basis(x, b, self.order, self.knots)
        return s


def splines(module, xs):
    return torch.stack([module(x) for x in xs])


def both(function, lifted, module, *arguments):
    """What the loop and lifted code give, and their gradients of a module's parameters."""
    found = []
    for one in (function, lifted):
        module.zero_grad()
        result = one(module, *arguments)
        result.square().sum().backward()
        found.append((result.detach().clone(), [p.grad.clone() for p in module.parameters()]))
    return found


def check(function, lifted, module, *arguments):
    (want, slopes), (got, own) = both(function, lifted, module, *arguments)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(own, slopes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_list_of_numbers(backend):
    module, lifted = Spline(), lift(splines, backend=backend)
    xs = torch.linspace(0.01, 0.99, 7)
    for _ in range(3):
        check(splines, lifted, module, xs)
    module.knots[3] += 0.05  # what it holds by now counts
    check(splines, lifted, module, xs)
    module.knots = [2 * one for one in module.knots]
    check(splines, lifted, module, xs)
    if backend != "torch":
        assert lifted.report().loops[0].decision == "native"


class Node:
    def __init__(self, place, left=None, right=None):
        self.place, self.left, self.right = place, left, right


class SoftTree(nn.Module):
    def __init__(self, depth):
        super().__init__()
        count = 2**depth - 1
        self.weights = nn.Parameter(torch.linspace(-1, 1, 3 * count).reshape(count, 3))
        self.leaves = nn.Parameter(torch.linspace(0, 1, 2**depth))
        self.names = {"scale": 2.0, "shift": 0.5}
        inner, outer = iter(range(count)), iter(range(2**depth))

        def grown(level):
            return Node(next(outer)) if level == 0 else Node(next(inner), grown(level - 1), grown(level - 1))

        self.root = grown(depth)

    def value(self, node, x):
        if node.left is None:
            return self.leaves[node.place]
        p = torch.sigmoid(self.weights[node.place] @ x)
        return p * self.value(node.left, x) + (1 - p) * self.value(node.right, x)


def forest(module, rows):
    out = []
    for x in rows:
        out.append(module.value(module.root, x) * module.names["scale"] + module.names["shift"])
    return torch.stack(out)


@pytest.mark.parametrize("backend", BACKENDS)
def test_objects_and_a_dict(backend):
    module, lifted = SoftTree(3), lift(forest, backend=backend)
    rows = torch.linspace(-1, 1, 15).reshape(5, 3)
    for _ in range(3):
        check(forest, lifted, module, rows)
    module.root.left, module.root.right = module.root.right, module.root.left
    module.names["scale"] = -3.0
    check(forest, lifted, module, rows)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []
        self.limit = 3


def noted(module, numbers):
    total = 0
    for number in numbers:
        if number % 2 and len(module.seen) < module.limit:
            module.seen.append(number)
        while module.seen and module.seen[-1] > 7:
            total += module.seen.pop()
        total += len(module.seen)
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_list_that_is_changed(backend):
    lifted = lift(noted, backend=backend)
    mine, theirs = Counting(), Counting()
    held = mine.seen
    for numbers in ([1, 3, 9, 4, 11, 5], [8, 1], [13, 15, 7], [], [1, 2, 3]):
        assert lifted(mine, numbers) == noted(theirs, numbers)
        assert mine.seen == theirs.seen and mine.seen is held


def shared(module, numbers):
    total = 0
    for number in numbers:
        module.seen.append(number)
        total += len(numbers) * number
        if len(numbers) > 9:
            break
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_list_that_is_an_argument_too(backend):
    lifted = lift(shared, backend=backend)
    for share in (False, True, True):
        results = []
        for function in (shared, lifted):
            module = Counting()
            module.seen = [1, 2, 3]
            numbers = module.seen if share else [4, 5]
            results.append((function(module, numbers), module.seen, numbers))
        assert results[0] == results[1]
