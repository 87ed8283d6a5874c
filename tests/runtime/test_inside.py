"""Functions with loops that statements call which stay: they are lifted by themselves."""

import decimal

import numpy as np
import pytest
import torch

import looplift


def loss_of(w, X, y):
    total = 0.0
    for i in range(len(X)):
        total = total + ((w * X[i]).sum() - y[i]) ** 2
    return total / len(X)


def trained(X, y, n):
    w = torch.zeros(X.shape[1], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    history = []
    for _ in range(n):
        optimizer.zero_grad()
        loss = loss_of(w, X, y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return w.detach(), history


def distances(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        total = 0.0
        for j in range(len(a)):
            total += abs(a[i] - a[j]) * 0.5
        out[i] = total
    return out


def logged(a, n):
    log = []
    for _ in range(n):
        d = distances(a)
        log.append(f"{d[0]:.3f}")
        a = a - 0.01 * d
    return a, log


class Simulation:
    def __init__(self, a):
        self.a, self.log = a, []

    def force(self):
        return distances(self.a)

    def run(self, n):
        for _ in range(n):
            self.a = self.a - 0.01 * self.force()
            self.log.append("%.3f" % self.a[0])


def simulated(a, n):
    simulation = Simulation(a)
    simulation.run(n)
    return simulation.a, simulation.log


class Layer(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, n))

    def forward(self, X):
        out = []
        for row in X:
            out.append(torch.tanh((row * self.weight).sum()))
        return torch.stack(out)


def fitted(layer, X, y, n):
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(n):
        optimizer.zero_grad()
        loss = ((layer(X) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def same(one, other):
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.ndarray | torch.Tensor):
        return np.allclose(one, other, rtol=1e-4, atol=1e-6)
    return one == other


def decisions(lifted, function):
    return {loop.decision for loop in lifted.report().loops if loop.function == function.__name__}


@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize(
    ("function", "callee", "kind"),
    [(trained, loss_of, torch), (logged, distances, np), (simulated, distances, np)],
)
def test_callees_are_lifted(function, callee, kind, verify):
    if kind is np:
        given = (np.random.default_rng(0).normal(size=40), 5)
    else:
        torch.manual_seed(0)
        given = (torch.randn(40, 4), torch.randn(40), 5)
    lifted = looplift.lift(function, verify=verify)
    for _ in range(4):
        assert same(lifted(*given), function(*given))
    assert decisions(lifted, callee) <= {"lanes", "native", "scan", "sequential"}


def test_modules_are_lifted():
    torch.manual_seed(0)
    X, y = torch.randn(40, 5), torch.randn(40)
    lifted = looplift.lift(fitted, verify="off")
    assert same(lifted(Layer(5), X, y, 6), fitted(Layer(5), X, y, 6))
    assert decisions(lifted, Layer.forward) == {"lanes"}


def dot(a, b):
    total = 0.0
    for k in range(3):
        total += a[k] * b[k]
    return total


def of_small_loops(n):
    log, a = [], [1.0, 2.0, 3.0]
    for i in range(n):
        d = dot(a, a)
        log.append(decimal.Decimal(d))
        a[i % 3] = d * 1e-3
    return log


def test_where_nothing_is_gained_the_statements_run_as_they_are():
    lifted = looplift.lift(of_small_loops)
    for _ in range(24):
        assert lifted(300) == of_small_loops(300)
    (dispatcher,) = [one for one in lifted.__looplift_state__.dispatchers if one.program.calls]
    assert dispatcher.hooked is None and dispatcher.fallback is None


def failing(a, n):
    log = []
    for k in range(n):
        log.append(f"{distances(a[: 9 - k])[0]:.2f}")
    return log


def test_errors_are_the_loop_s():
    a = np.random.default_rng(0).normal(size=9)
    lifted = looplift.lift(failing, verify="off")
    for _ in range(2):
        with pytest.raises(IndexError) as theirs:
            failing(a, 12)
        with pytest.raises(IndexError) as mine:
            lifted(a, 12)
        assert str(mine.value) == str(theirs.value)
        assert lifted(a, 3) == failing(a, 3)


def test_another_function_under_the_same_name(monkeypatch):
    a = np.random.default_rng(0).normal(size=20)
    lifted = looplift.lift(logged, verify="off")
    assert same(lifted(a, 3), logged(a, 3))
    monkeypatch.setitem(logged.__globals__, "distances", lambda a: 2 * a)
    assert same(lifted(a, 3), logged(a, 3))


class Dynamic:
    """An object that answers to every name."""

    def __getattr__(self, name):
        return Dynamic()

    def __call__(self, x):
        return x * 2


def of_dynamic_objects(thing, n):
    log = []
    for k in range(n):
        log.append(f"{thing(k)} {thing.part(k)}")
        log.append(f"{distances(np.arange(float(k + 1)))[0]:.2f}")
    return log


@pytest.mark.internal  # the compiler asks such an object for names that are no texts then
def test_objects_that_answer_to_every_name():
    lifted = looplift.lift(of_dynamic_objects, verify="off")
    for _ in range(10):
        assert lifted(Dynamic(), 6) == of_dynamic_objects(Dynamic(), 6)


class Node:
    def __init__(self, kids):
        self.kids = kids


def visited(node, seen):
    seen.append(id(node))
    for kid in node.kids:
        visited(kid, seen)
    return seen


def even(node, seen):
    seen.append(id(node))
    for kid in node.kids:
        odd(kid, seen)
    return seen


def odd(node, seen):
    for kid in node.kids:
        even(kid, seen)
    return seen


def hooks_of(dispatchers):
    return [one.hooked for one in dispatchers] + [hook for one in dispatchers for hook in hooks_of(one.children)]


@pytest.mark.parametrize("function", (visited, even))
def test_recursion_in_which_nothing_is_lifted_runs_as_written(function):
    tree = Node([Node([Node([]), Node([])]), Node([Node([])])])
    lifted = looplift.lift(function)
    for _ in range(100):
        assert lifted(tree, []) == function(tree, [])
    assert not any(hooks_of(lifted.__looplift_state__.dispatchers))
