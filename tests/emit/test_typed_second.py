"""Gradients of gradients of programs over small tensors: those of their loops, which run again for them."""

import pytest
import torch

from looplift import lift


def chain(x, w):
    alpha = {(0, "a"): x[0]}
    for i in range(1, len(x)):
        alpha[i, "a"] = torch.logsumexp(torch.stack([alpha[i - 1, "a"] + w[0], x[i] * w[1]]), 0)
    return alpha[len(x) - 1, "a"]


def alignment(x, y, gap):
    before = [gap * j * torch.ones((), dtype=x.dtype) for j in range(len(y) + 1)]
    for i in range(len(x)):
        after = [gap * (i + 1) * torch.ones((), dtype=x.dtype)]
        for j in range(len(y)):
            ways = torch.stack([before[j] + (x[i] - y[j]) ** 2, before[j + 1] + gap, after[j] + gap])
            after.append(-torch.logsumexp(-ways, 0))
        before = after
    return before[len(y)], before[0]


def path_scores(emissions, steps, tags):
    found = {}
    for name, path in enumerate(tags):
        score = torch.zeros((), dtype=steps.dtype)
        for t in range(len(path)):
            score = score + emissions[t][path[t]] ** 2 * torch.exp(steps[path[t - 1]])
        found[name] = score
    return found


def steps_of_two(x, y, p, count):
    for _ in range(count):
        x, y = x + 0.1 * (p[0] * x - p[1] * x * y), y + 0.1 * (p[2] * x * y - p[3] * y)
    return x, y


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return [leaf for item in items for leaf in leaves(item)]


def total_of_slopes(function, arguments, before=lambda: None):
    """A number made of all first derivatives, and the inputs; ``before`` runs after the call."""
    inputs = [one for one in leaves(list(arguments)) if one.requires_grad]
    ends = [one for one in leaves(function(*arguments)) if one.requires_grad]
    before()
    total = sum((k + 1.5) * one.sin() for k, one in enumerate(ends))
    slopes = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
    return sum(one.square().sum() for one in slopes if one is not None and one.requires_grad), inputs


def seconds(function, arguments):
    total, inputs = total_of_slopes(function, arguments)
    return torch.autograd.grad(total, inputs, allow_unused=True, materialize_grads=True)


def random(*shape):
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


CASES = {
    chain: lambda n: (random(n + 1), random(2)),
    alignment: lambda n: (random(n), random(2), 0.3),
    path_scores: lambda n: ([random(3) for _ in range(4)], random(3), [[k % 3 for k in range(m)] for m in range(n)]),
    steps_of_two: lambda n: (random(), random(), random(4), n),
}


@pytest.mark.parametrize("loop", CASES, ids=lambda one: one.__name__)
def test_second_derivatives_are_those_of_the_loop(loop):
    torch.manual_seed(0)
    lifted = lift(loop, verify="off", backend="native")
    for count in (3, 0, 1, 2, 3, 4):
        arguments = CASES[loop](count)
        if any(one.requires_grad for one in leaves(loop(*arguments))):
            torch.testing.assert_close(seconds(lifted, arguments), seconds(loop, arguments))
    assert {one.decision for one in lifted.report().loops} == {"native"}


def test_third_derivatives(n=3):
    x, w = random(n), random(2)
    found = []
    for function in (lift(chain, verify="off"), chain):
        total, inputs = total_of_slopes(function, (x, w))
        slopes = torch.autograd.grad(total, inputs, create_graph=True)
        found.append(torch.autograd.grad(sum(one.square().sum() for one in slopes), inputs))
    torch.testing.assert_close(*found)


def test_checked_by_differences():
    lifted = lift(alignment, verify="off", backend="native")
    x, y = random(3), random(2)
    assert torch.autograd.gradcheck(lambda x, y: lifted(x, y, 0.3)[0], (x, y))
    assert torch.autograd.gradgradcheck(lambda x, y: lifted(x, y, 0.3)[0], (x, y))


def test_lists_are_as_they_were_in_the_call():
    lifted = lift(path_scores, verify="off", backend="native")
    emissions, steps, tags = CASES[path_scores](3)
    wanted = seconds(path_scores, (emissions, steps, tags))

    def change():
        tags[2][1] = 0
        tags.pop(0)
        emissions.reverse()

    inputs = [*emissions, steps]
    total, _ = total_of_slopes(lifted, (emissions, steps, tags), change)
    torch.testing.assert_close(torch.autograd.grad(total, inputs, materialize_grads=True, allow_unused=True), wanted)


def test_a_tensor_that_changed_since_is_an_error():
    lifted = lift(steps_of_two, verify="off")
    x, y, p = random(), random(), torch.rand(4, dtype=torch.float64)
    total, inputs = total_of_slopes(lifted, (x, y, p, 3))
    p.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation|cannot be differentiated again"):
        torch.autograd.grad(total, inputs)


class Holder:
    def __init__(self, weight):
        self.weight = weight


def held(x, holder):
    total = {0: x[0]}
    for i in range(1, len(x)):
        total[i] = total[i - 1] * holder.weight + x[i]
    return total[len(x) - 1]


def test_objects_are_an_error():
    lifted = lift(held, verify="off")
    x = random(3)
    (slope,) = torch.autograd.grad(lifted(x, Holder(2.0)) ** 2, x, create_graph=True)
    if any(one.decision == "native" for one in lifted.report().loops):
        with pytest.raises(RuntimeError, match="differentiated again"):
            torch.autograd.grad(slope.sum(), x)


def test_a_program_in_a_file_says_that_it_has_none():
    lifted = lift(chain, verify="off")
    x, w = random(4), random(2)
    lifted(x, w)
    namespace = {}
    exec(lifted.source, namespace)
    (slope,) = torch.autograd.grad(namespace["chain"](x, w), x, create_graph=True)
    torch.testing.assert_close(slope, *torch.autograd.grad(chain(x, w), x))
    with pytest.raises(RuntimeError, match="differentiated again"):
        torch.autograd.grad(slope.sum(), x)


def one_of_two(x, y, p, count):
    """What is handed out comes from the first, from the second, or from both."""
    kept = {0: p[0]}
    for k in range(count):
        kept[k] = (x ** (2 + k) if k < 2 else y**3) * p[0]
        if k > 2:
            kept[k] = x * y * kept[k - 1]
    return kept[max(count - 1, 0)]


@pytest.mark.parametrize("is_leaf", (True, False))
@pytest.mark.parametrize("loop", (steps_of_two, one_of_two), ids=lambda one: one.__name__)
def test_one_tensor_given_twice(loop, is_leaf):
    lifted = lift(loop, verify="off", backend="native")
    for count in (3, 1, 2, 4, 5):
        leaf, p = random(), random(4)
        found = []
        for function in (loop, lifted):
            given = leaf if is_leaf else leaf * 1
            (slope,) = torch.autograd.grad(leaves(function(given, given, p, count))[-1].sin(), leaf, create_graph=True)
            found.append(torch.autograd.grad(slope, (leaf, p)))
        torch.testing.assert_close(*found)
    assert {one.decision for one in lifted.report().loops} == {"native"}


def sums(x, w):
    kept = {0: w[0]}
    for i in range(len(x)):
        kept[i % 2] = kept[0] * x[i]
    return kept[0]


def test_what_no_gradient_reaches_has_none():
    lifted, found = lift(sums, verify="off", backend="native"), []
    for function in (sums, lifted):
        x, w = random(3), random(2)
        (slope,) = torch.autograd.grad(function(x, w), w, create_graph=True)
        found.append([one is None for one in torch.autograd.grad(slope.sum(), (w, x), allow_unused=True)])
    assert found == [[True, False]] * 2
    assert {one.decision for one in lifted.report().loops} == {"native"}
