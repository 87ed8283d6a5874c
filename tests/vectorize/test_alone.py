"""Results that are handed out one by one: each has gradients of its own inputs only, and no NaN of the others."""

import pytest
import torch

from looplift import lift


def doubled(items):
    return [item * 2 for item in items]


def second(items):
    made = []
    for item in items:
        made.append(item.sum() + 1)
    return made[1] * 3


def later(items):
    made = []
    for k, item in enumerate(items):
        made.append(item * k)
    return torch.stack(made[1:])


def running(items):
    total, made = torch.zeros(2), []
    for item in items:
        total = total * 0.5 + item
        made.append(total)
    return made


def keyed(items):
    made = {}
    for k, item in enumerate(items):
        made[k] = item * 2
    return list(made.values())


def pieces(items):
    return [item[:1] * 2 for item in items]


def own_inputs():
    tensors = [torch.arange(2.0).add(k).requires_grad_() for k in range(3)]
    return tensors, tensors


def one_more_input():
    x, w = torch.ones(3, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    return [x, w], [x[0] * 1, x[1] * w, x[2] * 2]


def one_input():
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    return [x], [x[0] * 1, x[1] * 3, x[2] * x[0]]


def one_tensor():
    x = torch.ones(2, requires_grad=True)
    return [x], [x, x, x]


def other_lengths():
    tensors = [torch.ones(k, requires_grad=True) for k in (2, 1, 3)]
    return tensors, tensors


def gradients(function, make):
    """Of each result alone, by all inputs, without signs of zeros; None where there is none."""
    inputs, items = make()
    results = function(items)
    results = results if isinstance(results, list) else [results]
    grads = [torch.autograd.grad(one.sum(), inputs, allow_unused=True, retain_graph=True) for one in results]
    return [[None if g is None else (g + 0.0).tolist() for g in row] for row in grads]


@pytest.mark.parametrize("make", [own_inputs, one_more_input, one_input, one_tensor])
@pytest.mark.parametrize("function", [doubled, second, later, running, keyed, pieces])
def test_a_result_has_the_gradients_that_it_has_in_the_loop(function, make):
    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        assert gradients(lifted, make) == gradients(function, make)


@pytest.mark.parametrize("function", [doubled, pieces])
def test_tensors_of_several_lengths(function):
    assert gradients(lift(function, verify="off"), other_lengths) == gradients(function, other_lengths)


@pytest.mark.parametrize("make", [one_input, one_tensor])
def test_items_that_are_made_of_the_same_inputs_are_lanes(make):
    lifted = lift(doubled, verify="off", backend="torch")
    gradients(lifted, make)
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_without_gradients_they_are_lanes():
    lifted = lift(doubled, verify="off", backend="torch")
    with torch.no_grad():
        lifted(own_inputs()[1])
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_a_long_history_is_left_to_the_loop():
    x = torch.ones(2, requires_grad=True)
    deep = x
    for _ in range(11_000):
        deep = deep + 1
    lifted = lift(doubled, verify="off", backend="torch")
    assert [one.tolist() for one in lifted([deep, x])] == [one.tolist() for one in doubled([deep, x])]
    assert [loop.decision for loop in lifted.report().loops] == ["kept"]


def roots(x):
    return [torch.sqrt(x[i]) for i in range(len(x))]


def squares(x):
    return [x[i] * x[i] for i in range(len(x))]


def quotients(x):
    return [(x / x[i]).sum() for i in range(len(x))]


def overflowing(x):
    return [torch.softmax(x * x[i] * 1e30, 0)[0] for i in range(len(x))]


def first_root(x):
    found = [torch.sqrt(x[i]) for i in range(len(x))]
    return found[0] * 2


def last_root(x):
    root = x[0]
    for i in range(len(x)):
        root = torch.sqrt(x[i])
    return root


def roots_of_some(x):
    found = []
    for i in range(len(x)):
        if x[i] >= 0:
            found.append(torch.sqrt(x[i]))
    return found


def sums(x):
    return [x[i] + x[i - 1] for i in range(len(x))]


VALUES = ([4.0, 1.0, 9.0], [4.0, 0.0, 9.0], [4.0, -1.0, 9.0], [1.0, float("inf"), 2.0], [1.0, float("nan"), 2.0])


@pytest.mark.parametrize(
    "function", [roots, squares, quotients, overflowing, first_root, last_root, roots_of_some, sums]
)
def test_a_gradient_of_one_result_is_none_of_the_others(function):
    lifted = lift(function, verify="off", backend="torch")
    for values in VALUES:

        def make(values=values):
            x = torch.tensor(values, requires_grad=True)
            return [x], x

        assert repr(gradients(lifted, make)) == repr(gradients(function, make)), values


@pytest.mark.parametrize("function", [roots, squares, quotients, first_root, last_root, roots_of_some, sums])
def test_such_results_are_lanes_where_all_is_finite(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.tensor([4.0, 1.0, 9.0], requires_grad=True))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_sums_alone_need_not_be_finite():
    lifted = lift(sums, verify="off", backend="torch")
    lifted(torch.tensor([4.0, float("inf"), 9.0], requires_grad=True))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


@pytest.mark.parametrize("function", [roots, squares])
def test_in_pieces(function):
    lifted = lift(function, verify="off", backend="torch", memory=40)
    for values in ([4.0, 1.0, 9.0] * 20, [4.0, 0.0, float("inf")] * 20):

        def make(values=values):
            x = torch.tensor(values, requires_grad=True)
            return [x], x

        assert repr(gradients(lifted, make)) == repr(gradients(function, make))


def before_the_last(x):
    before, total = x[0], 0
    for i in range(len(x)):
        total = total + before * 2
        before = torch.sqrt(x[i])
    return total


def test_the_last_value_that_nobody_takes_shows_in_no_gradient():
    lifted = lift(before_the_last, verify="off", backend="torch")
    for values in ([4.0, 1.0, 9.0], [4.0, 1.0, 0.0], [4.0, 1.0, float("nan")]):

        def make(values=values):
            x = torch.tensor(values, requires_grad=True)
            return [x], x

        assert repr(gradients(lifted, make)) == repr(gradients(before_the_last, make)), values
