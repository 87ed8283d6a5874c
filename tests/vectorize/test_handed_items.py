"""Items of lists that loops carry: handed out, changed in place, with gradients of their own; and tensors that other
ones take the place of, whose inputs nothing else has."""

import pytest
import torch
from torch import nn

from looplift import lift


def changed_afterwards(x):
    b = x[0] * 1
    for _ in range(3):
        v = [x[j] for j in range(len(x))]
        b = torch.tanh(v[0] + b)
    for u in v:
        u += b
    return torch.stack(v)


def handed_out(x):
    b = x[0] * 1
    for _ in range(3):
        v = [x[j] for j in range(len(x))]
        b = torch.tanh(v[0] + b)
    return v


def winner(x):
    p = [row for row in x]
    while len(p) > 1:
        p = [p[2 * i] if p[2 * i].sum() > p[2 * i + 1].sum() else p[2 * i + 1] for i in range(len(p) // 2)]
    p[0].add_(100)
    return p[0]


def the_same_items(x):
    p = [x[j] for j in range(len(x))]
    for _ in range(2):
        p = [p[i] for i in range(len(p) - 1)]
    return p


def one_item_twice(x):
    p = [x[j] * 2 for j in range(len(x))]
    for _ in range(2):
        p = [p[i // 2] for i in range(len(p) + 1)]
    return p, p[0] is p[1]


def put_twice(x):
    p = [x[j] * 1 for j in range(len(x))]
    for _ in range(2):
        q = []
        for i in range(len(p) - 1):
            s = p[i] * 2
            q.append(s)
            q.append(s)
        p = q
    p[0].add_(1)
    return p


def last_put_twice(x):
    s = x[0] * 0
    for _ in range(3):
        s, v = torch.tanh(s + 1), []
        for i in range(len(x)):
            t = x[i] * s
            v.append(t)
            v.append(t)
    v[0].add_(1)
    return v


def no_step(x):
    p = [x[j] for j in range(len(x))]
    for _ in range(len(x) - 4):
        p = [p[i] + p[i + 1] for i in range(len(p) - 1)]
    return p[0]


def told(found, x):
    items = found[0] if isinstance(found, tuple) else found if isinstance(found, list) else [found]
    shared = [one.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for one in items]
    alike = [[one is other for other in items] for one in items]
    return [one.tolist() for one in items], shared, alike, x.tolist()


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize(
    "function",
    (changed_afterwards, handed_out, winner, the_same_items, one_item_twice, put_twice, last_put_twice, no_step),
    ids=lambda function: function.__name__,
)
def test_items_are_the_loops(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        x, y = (torch.rand(4, 2, generator=torch.Generator().manual_seed(1)) for _ in range(2))
        assert told(lifted(x), x) == told(function(y), y)


def shrinking(xs):
    p = [v for v in xs]
    for _ in range(2):
        p = [p[i] * 2 for i in range(len(p) - 1)]
    return torch.stack(p)


def reached_by_some(xs):
    p = [v for v in xs]
    for _ in range(2):
        p = [p[i] + p[i + 1] for i in range(len(p) - 1)]
    return p[0]


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("function", (shrinking, reached_by_some), ids=lambda function: function.__name__)
def test_leaves_that_are_left_out_get_no_gradient(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        outcomes = []
        for run in (lifted, function):
            xs = [torch.full((2,), float(k), requires_grad=True) for k in range(5)]
            run(xs).square().sum().backward()
            outcomes.append([None if x.grad is None else x.grad.tolist() for x in xs])
        assert outcomes[0] == outcomes[1]


def of_comparisons(x, w, to, lin):
    h = [x[k] * 2 for k in range(len(x))]
    for i in range(len(to)):
        h[to[i]] = w[i] * (h[to[i]] > 0)
    return h


def of_one_of_two(x, w, to, lin):
    h = [x[k].sum() for k in range(len(x))]
    for i in range(len(to)):
        h[to[i]] = max(h[to[i]], w[i].sum() + 100)
    return h


def of_a_list(x, w, to, lin):
    u = []
    for k in range(len(x)):
        u.append(x[k] * 2)
    h = []
    for k in range(len(x)):
        h.append(torch.sin(u[k]))
    for i in range(len(to)):
        h[to[i]] = w[i] * 2
    return h


def of_an_array(x, w, to, lin):
    z = torch.zeros(x.shape)
    for k in range(len(x)):
        z[k] = x[k] * 2
    h = []
    for k in range(len(x)):
        h.append(torch.sin(z[k]))
    for i in range(len(to)):
        h[to[i]] = w[i] * 2
    return h


def of_conditions(x, w, to, lin):
    h = [x[k] * 2 for k in range(len(x))]
    for i in range(len(to)):
        h[to[i]] = torch.where(h[to[i]] > 0, w[i], w[i] * 2)
    return h


def of_modules(x, w, to, lin):
    h = []
    for k in range(len(x)):
        h.append(lin(x[k]))
    for i in range(len(to)):
        h[to[i]] = w[i] * x[0]
    return h


def put_back(x, w, to, lin):
    h = [x[k] * 1 for k in range(len(x))]
    for i in range(len(to)):
        a = h[to[i]]
        h[to[i]] = h[to[i]] * w[i]
        h[to[i]] = a * 3
    return h


def made_of_themselves(x, w, to, lin):
    h = [lin(x[k]) for k in range(len(x))]
    for i in range(len(to)):
        h[to[i]] = torch.tanh(h[to[i]]) + w[i]
    return h


REPLACING = (
    of_comparisons, of_one_of_two, of_a_list, of_an_array, of_conditions, of_modules, put_back, made_of_themselves,
)  # fmt: skip


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("function", REPLACING, ids=lambda function: function.__name__)
def test_what_is_replaced_gets_no_gradient(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for to in ([2, 0, 1], [2, 0, 1], [0, 0, 2]):
        outcomes = []
        for run in (lifted, function):
            torch.manual_seed(3)
            x, w, lin = torch.randn(3, 2, requires_grad=True), torch.rand(3, 2, requires_grad=True), nn.Linear(2, 2)
            torch.stack(run(x, w, to, lin)).square().sum().backward()
            outcomes.append([x.grad, w.grad, lin.weight.grad, lin.bias.grad])
        for found, expected in zip(*outcomes, strict=True):
            assert (found is None) == (expected is None)
            if expected is not None:
                torch.testing.assert_close(found, expected)


def stacked(x, w, to, lin):
    h = [lin(x[k]) for k in range(len(x))]
    for i in range(len(to)):
        h[to[i]] = torch.tanh(h[to[i]]) + w[i]
    return torch.stack(h)


def test_tensors_that_are_made_of_themselves_are_lifted():
    lifted = lift(stacked, verify="off", backend="torch")
    lifted(torch.randn(3, 2), torch.rand(3, 2, requires_grad=True), [2, 0, 1], nn.Linear(2, 2))
    assert "kept" not in {loop.decision for loop in lifted.report().loops}
