"""Functions without loops of their own: the loops of what they call are lifted."""

from typing import Any

import pytest
import torch
from torch import nn

from looplift import lift


class Rows(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        out = []
        for row in x:
            out.append(torch.tanh(self.linear(row)))
        return torch.stack(out)


class Stack(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = Rows(width), Rows(width)

    def forward(self, x):
        return self.second(self.first(x)) + x


def squares(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] ** 2
    return out


def run(model, x):
    return model(x)


def decisions(lifted):
    return [loop.decision for loop in lifted.report().loops]


def same_with_gradients(function, lifted, model, x):
    x.requires_grad_()
    leaves = [x, *model.parameters()]
    wanted, given = function(model, x), lifted(model, x)
    torch.testing.assert_close(given, wanted)
    torch.testing.assert_close(torch.autograd.grad(given.sum(), leaves), torch.autograd.grad(wanted.sum(), leaves))


def test_the_forward_of_an_argument():
    lifted: Any = lift(run)
    same_with_gradients(run, lifted, Rows(3), torch.randn(4, 3))
    assert decisions(lifted) == ["lanes"]
    assert "for row in x" not in lifted.source and "return model(x)" in lifted.source


def test_modules_in_modules_and_in_a_sequential():
    for model in (Stack(3), nn.Sequential(Rows(3), nn.ReLU(), Stack(3))):
        lifted: Any = lift(run)
        same_with_gradients(run, lifted, model, torch.randn(4, 3))
        assert decisions(lifted) == ["lanes"]


def test_helper_functions_and_methods():
    class Holder:
        def doubled(self, x):
            return 2 * squares(x)

    def both(holder, x):
        return holder.doubled(x) + squares(x)

    lifted, x = lift(both), torch.randn(5)
    torch.testing.assert_close(lifted(Holder(), x), both(Holder(), x))
    assert decisions(lifted) == ["lanes"]


def test_hooks_run_as_they_would():
    model, seen = Rows(3), []
    lifted: Any = lift(run)
    x = torch.randn(4, 3)
    lifted(model, x)
    model.register_forward_hook(lambda module, given, result: seen.append(result.shape))
    torch.testing.assert_close(lifted(model, x), run(model, x))
    assert seen == [(4, 3), (4, 3)]


def test_a_forward_of_its_own_and_a_callable_that_is_no_function():
    model, x = Rows(3), torch.randn(4, 3)
    model.forward = lambda x: x + 1
    assert torch.equal(lift(run)(model, x), x + 1)
    assert torch.equal(lift(run)(torch.relu, x), torch.relu(x))


def test_another_callee_in_the_next_call():
    def apply(function, x):
        return function(x)

    def negative(x):
        return torch.stack([-row for row in x])

    lifted, x = lift(apply), torch.randn(4, 3)
    for function in (squares, negative, torch.exp, squares):
        assert torch.equal(lifted(function, x), function(x))
    assert decisions(lifted) == ["lanes", "lanes"]


def test_an_exception_is_that_of_the_callee():
    lifted: Any = lift(run)
    for x in (torch.randn(4, 3), torch.randn(4, 5), torch.zeros(0, 3)):
        messages = []
        for function in (run, lifted):
            try:
                function(Rows(3), x)
                messages.append("")
            except RuntimeError as error:
                messages.append(str(error))
        assert messages[0] == messages[1]


def test_recursion_outside_of_loops_still_ends():
    def total(tree):
        if isinstance(tree, tuple):
            return total(tree[0]) + total(tree[1])
        return squares(tree).sum()

    x = torch.randn(3)
    torch.testing.assert_close(lift(total)(((x, x), x)), 3 * squares(x).sum())


def scaled(x, factor=2.0, *, shift=0.0):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * factor + shift
    return out


def with_defaults(x):
    return scaled(x) + 1


def test_defaults_that_are_replaced_count():
    lifted, x = lift(with_defaults), torch.arange(4.0)
    assert torch.equal(lifted(x), 2 * x + 1)
    try:
        scaled.__defaults__ = (3.0,)
        assert torch.equal(lifted(x), 3 * x + 1)
        scaled.__kwdefaults__ = {"shift": 1.0}
        assert torch.equal(lifted(x), 3 * x + 2)
    finally:
        scaled.__defaults__, scaled.__kwdefaults__ = (2.0,), {"shift": 0.0}


class Sums:
    def __init__(self, values, scale=1.0):
        self.values = values
        self.tree = torch.zeros(2 * len(values))
        for i in range(len(values)):
            self.tree[len(values) + i] = values[i] * scale
        for k in range(len(values) - 1, 0, -1):
            self.tree[k] = self.tree[2 * k] + self.tree[2 * k + 1]


class Half(Sums):
    def __init__(self, values):
        super().__init__(values, scale=0.5)
        self.count = 0
        for value in values:
            if value > 0:
                self.count += 1


class Answers:
    def __init__(self, values):
        self.values = [value * 2 for value in values]
        return self.values


class Text(str):
    def __init__(self, text):
        self.codes = [ord(letter) for letter in text]


def test_constructors():
    def total(values):
        return Sums(values, scale=2.0), Half(values)

    lifted, values = lift(total), torch.randn(8)
    for _ in range(3):
        (one, half), (wanted, wanted_half) = lifted(values), total(values)
        assert type(one) is Sums and type(half) is Half and half.count == wanted_half.count
        assert one.values is values and half.values is values
        torch.testing.assert_close(one.tree, wanted.tree)
        torch.testing.assert_close(half.tree, wanted_half.tree)
    assert "native" in decisions(lifted)


def test_errors_of_constructors_are_theirs():
    with pytest.raises(TypeError, match="should return None, not 'list'"):
        lift(lambda values: Answers(values))([1, 2, 3])
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        lift(lambda: Sums())()


def test_classes_that_make_their_objects_otherwise():
    text = lift(lambda text: Text(text))("abc")
    assert type(text) is Text and text == "abc" and text.codes == [97, 98, 99]
