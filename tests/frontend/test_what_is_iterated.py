"""What a loop runs through while its body, or the region before it, changes it. The loop is the oracle."""

import copy

import pytest
import torch
from torch import nn

from looplift import lift


def dict_views(x):
    out = []
    for i in range(x.shape[0]):
        table = {"a": x[0], "b": x[i]}
        values, keys = table.values(), table.keys()
        table["c"] = x[i] * 2
        out.append(sum(values) + len(keys))
    return out


def text_of_a_view(x):
    out = []
    for i in range(x.shape[0]):
        table = {"a": x[0], "b": x[i]}
        out.append(len(str(table.keys())) * x[i])
    return out


def values_set_meanwhile(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        table = {"a": x[i], "b": x[0], "c": x[i] * 2}
        for value in table.values():
            table["c"] = table["c"] + value
        out[i] = table["c"]
    return out


def own_values_set_meanwhile(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        table = {"a": x[i], "b": x[0]}
        for key, value in table.items():
            table[key] = table["a"] + value
        out[i] = table["a"] * table["b"]
    return out


def items_set_meanwhile(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        row = [x[i], x[0], x[i] * 2]
        for k, value in enumerate(row):
            row[-1] = row[-1] + value * k
        out[i] = row[2]
    return out


def shortened_meanwhile(x):
    out = []
    for i in range(x.shape[0]):
        steps = [torch.sin, torch.cos, torch.tanh]
        t = x[i]
        for step in steps:
            t = step(t)
            steps.pop()
        out.append(t)
    return out


def lengthened_meanwhile(x):
    out = []
    for i in range(x.shape[0]):
        steps, t = [torch.sin, torch.cos], x[i]
        for step in steps:
            if len(steps) < 4:
                steps.append(torch.tanh)
            t = step(t)
        out.append(t)
    return out


def mapped_late(x):
    out = []
    for i in range(x.shape[0]):
        t = x[i]
        for y in map(lambda f: f(t), (torch.sin, torch.cos, torch.exp)):
            t = t + y
        out.append(t)
    return torch.stack(out)


def zipped_twice(x):
    out = []
    for i in range(x.shape[0]):
        columns = zip(*((x[i], 1), (x[0], 2)))
        first, second = list(columns), list(columns)
        out.append(len(first) * x[i] + len(second))
    return out


@pytest.mark.parametrize("function", [
    dict_views, text_of_a_view, values_set_meanwhile, own_values_set_meanwhile, items_set_meanwhile,
    shortened_meanwhile, lengthened_meanwhile, mapped_late, zipped_twice,
])  # fmt: skip
def test_of_tensors(function):
    x = torch.randn(4)
    wanted, found = function(x), lift(function, verify="off")(x)
    assert type(found) is type(wanted)
    torch.testing.assert_close(torch.stack(list(found)), torch.stack(list(wanted)))


@pytest.mark.parametrize("function", [values_set_meanwhile, own_values_set_meanwhile, items_set_meanwhile, mapped_late])
def test_items_that_are_set_meanwhile_are_no_obstacle(function):
    lifted = lift(function, verify="off")
    lifted(torch.randn(4))
    assert lifted.report().loops[0].decision != "kept"


def test_parameters_are_iterated_once():
    def function(net, x):
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            parameters = net.parameters()
            first = sum(p.sum() for p in parameters)
            second = sum(p.sum() for p in parameters)
            out[i] = (first - second) * x[i]
        return out

    net, x = nn.Linear(2, 2), torch.randn(4)
    torch.testing.assert_close(lift(function, verify="off")(net, x), function(net, x))


def sorted_after_stores(numbers, x):
    out = 0.0
    for i in range(len(numbers)):
        numbers[i] = numbers[i] * -1.0
        for k, number in enumerate(sorted(numbers)):
            out += number * x[k]
    return out


def greatest_after_stores(numbers, x):
    numbers[0] = 50.0
    out = 0.0
    for k in range(len(x)):
        out += x[k] * max(numbers, key=lambda one: one * one)
        numbers[0] = numbers[0] * 0.1
    return out


def beside_functions(numbers, x):
    out = 0.0
    for f, number in zip((abs, float), numbers):
        numbers[1] = 3.0
        for k in range(len(x)):
            out += f(x[k]) * number
    return out


@pytest.mark.parametrize("function", [sorted_after_stores, greatest_after_stores, beside_functions])
def test_lists_of_the_caller_that_are_stored_into(function):
    numbers, x = [0.5, -2.0, 1.5], [1.0, -2.0, 0.25]
    given = copy.copy(numbers)
    wanted = function(numbers, x)
    assert lift(function, verify="off")(given, x) == pytest.approx(wanted)
    assert given == numbers


def test_tuples_that_are_equal_are_other_objects():
    def function(x, a):
        out, pair = torch.zeros(3), (a, 1)
        for i in range(3):
            other = (a, 1)
            out[i] = x[i] if pair is other else x[i] * 2
        return out

    x = torch.randn(3)
    torch.testing.assert_close(lift(function, verify="off")(x, 2.0), function(x, 2.0))


def test_divmod_of_tensors_raises():
    def function(x):
        out = []
        for i in range(3):
            quotient, rest = divmod(x[i], 2)
            out.append(quotient + rest)
        return out

    with pytest.raises(TypeError, match="divmod"):
        lift(function, verify="off")(torch.randn(3))


def test_parameters_by_position_only():
    def function(x):
        out = torch.zeros(3)
        for i in range(3):

            def double(a, /):
                return a * 2

            out[i] = double(a=x[i])
        return out

    with pytest.raises(TypeError, match="positional-only"):
        lift(function, verify="off")(torch.randn(3))


def columns_then_more(x):
    pairs = []
    for i in range(len(x)):
        pairs.append((x[i] * 2, i))
    values, places = zip(*pairs)
    for i in range(len(x)):
        pairs.append((x[i] * 3, i))
    return torch.stack(values), places, len(places), len(pairs)


def columns_read_by_a_loop(x):
    pairs = []
    for i in range(len(x)):
        pairs.append((x[i] * 2, i))
    values, places = zip(*pairs)
    total = 0.0
    for i in range(len(places)):
        total = total + values[i] * places[i]
    return total, places, [places]


@pytest.mark.parametrize("function", [columns_then_more, columns_read_by_a_loop])
def test_columns_of_a_list_of_pairs_are_tuples(function):
    x = torch.randn(4)
    wanted, found = function(x), lift(function, verify="off")(x)
    torch.testing.assert_close(found[0], wanted[0])
    assert found[1:] == wanted[1:]


def test_views_of_module_dicts_and_of_dicts_are_iterated_again():
    def function(net, x):
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            table = {"a": x[i], "b": x[0]}
            one, other = table.values()
            modules = net.values()
            for module in modules:
                one = module(one.reshape(1)).sum()
            for module in modules:
                one = module(one.reshape(1)).sum()
            out[i] = one * other + len(net.keys())
        return out

    net, x = nn.ModuleDict({"first": nn.Linear(1, 1), "second": nn.Tanh()}), torch.randn(4)
    lifted = lift(function, verify="off")
    torch.testing.assert_close(lifted(net, x), function(net, x))
    assert lifted.report().loops[0].decision == "lanes"


def by_shapes(x):
    out = torch.zeros(x.shape)
    for k in range(x.numel()):
        i, j = divmod(k, x.shape[1])
        out[i, j] = x[i, j] * k
    return out


def by_numbers_of_a_tensor(x):
    out = torch.zeros(8)
    for k in torch.arange(6).tolist():
        quotient, rest = divmod(k, 2)
        out[quotient] += rest
    return out


@pytest.mark.parametrize("function", [by_shapes, by_numbers_of_a_tensor])
def test_divmod_of_numbers_is_no_obstacle(function):
    x = torch.randn(3, 2)
    lifted = lift(function, verify="off")
    torch.testing.assert_close(lifted(x), function(x))
    assert lifted.report().loops[0].decision != "kept"
