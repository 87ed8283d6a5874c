"""Products of factors with zeros around them, or in place of what a loop does not take: gradients that are not finite
stay with the lanes that have them."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")


def with_itself(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1):
            out[i] += x[j] * x[i - j]
    return out


def padded(x, w):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        for k in range(len(w)):
            if 0 <= i + k - 1 < len(x):
                out[i] += x[i + k - 1] * w[k]
    return out


def strided(x, w):
    out = torch.zeros(len(x), dtype=D)
    for i in range(len(x)):
        for k in range(len(w)):
            if 0 <= 2 * i + 2 * k - 3 < len(x):
                out[i] += w[k] * x[2 * i + 2 * k - 3]
    return out


def of_tables(x, w):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for u in range(w.shape[0]):
                for v in range(w.shape[1]):
                    if 0 <= i + u - 1 < x.shape[0] and 0 <= j + v - 1 < x.shape[1]:
                        out[i, j] += x[i + u - 1, j + v - 1] * w[u, v]
    return out


def of_channels(x, w):
    out = torch.zeros(len(w), x.shape[1], dtype=D)
    for o in range(len(w)):
        for i in range(x.shape[1]):
            for c in range(x.shape[0]):
                for k in range(w.shape[2]):
                    if 0 <= i + k - 1 < x.shape[1]:
                        out[o, i] += x[c, i + k - 1] * w[o, c, k]
    return out


def before_each(x, w):
    out = torch.zeros(len(x), x.shape[1], dtype=D)
    for i in range(len(x)):
        for j in range(i + 1):
            out[i] += w[i, j] * x[j]
    return out


def chosen_rows(x, w):
    """A zero that stands in the loop is a factor like others."""
    out = torch.zeros(len(x), x.shape[1], dtype=D)
    for i in range(len(x)):
        for j in range(i + 1):
            c = w[i, j] if w[i, j] > 0 else 0.0
            out[i] += c * x[j]
    return out


def in_steps(x, w):
    """What a loop that stays multiplies keeps what it was until the backward pass."""
    h = torch.zeros(len(x), dtype=D)
    for t in range(3):
        u = torch.zeros(len(x), dtype=D)
        for i in range(len(x)):
            for k in range(3):
                if 0 <= i + k - t < len(x):
                    u[i] += x[i + k - t] * w[k, t]
        h = torch.tanh(h) + u
    return h


ROW = [0.0, 1.0, 2.0, -1.0, 0.5]
TABLE = [[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [0.5, 2.0, 0.0], [1.0, 1.0, 1.0]]
FILTERS = [[[1.0, -1.0, 0.5], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]] * 2
WEIGHTS = [[1.0, -1.0, 2.0, 1.0], [1.0, 0.5, 1.0, -1.0], [0.0, 1.0, 3.0, 1.0], [1.0, 0.0, -2.0, 1.0]]
CASES = [
    (with_itself, [ROW]), (padded, [ROW, [1.0, -2.0, 0.5]]), (strided, [ROW, [1.0, -2.0, 0.5]]),
    (of_tables, [TABLE, [[1.0, 0.0, -1.0], [1.0, 2.0, 3.0], [0.5, 1.0, 1.0]]]), (of_channels, [TABLE, FILTERS]),
    (before_each, [TABLE, WEIGHTS]), (chosen_rows, [TABLE, WEIGHTS]), (in_steps, [ROW, TABLE]),
]  # fmt: skip


def gradients(function, given, incoming):
    given = [torch.tensor(one, dtype=D, requires_grad=True) for one in given]
    result = function(*given)
    far = torch.tensor(incoming, dtype=D).repeat(result.numel())[: result.numel()].view_as(result)
    return result.detach(), *torch.autograd.grad(result, given, far)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "given"), CASES, ids=[one.__name__ for one, _ in CASES])
def test_gradients_are_the_loops_whatever_comes_in(function, given, backend):
    lifted = lift(function, backend=backend, verify="off")
    for incoming in ([1.0, 2.0], [INF] + [1.0] * 20, [1.0, -INF] + [2.0] * 20, [1.0] * 3 + [NAN] + [1.0] * 20,
                     [INF, 1.0, -INF], [1.0, 2.0, 3.0, INF, 1.0, 1.0, 1.0]):  # fmt: skip
        expected, found = gradients(function, given, incoming), gradients(lifted, given, incoming)
        for ours, loops in zip(found, expected, strict=True):
            torch.testing.assert_close(ours, loops, equal_nan=True)


@pytest.mark.parametrize(("function", "given"), CASES, ids=[one.__name__ for one, _ in CASES])
def test_gradients_of_gradients_are_the_loops(function, given):
    def twice(one):
        own = [torch.tensor(part, dtype=D, requires_grad=True) for part in given]
        first = torch.autograd.grad(one(*own).pow(3).sum(), own, create_graph=True)
        return *first, *torch.autograd.grad(sum(part.square().sum() for part in first), own)

    for ours, loops in zip(twice(lift(function, backend="torch", verify="off")), twice(function), strict=True):
        torch.testing.assert_close(ours, loops)


def test_factors_may_change_where_the_loop_keeps_nothing_of_them():
    def changed(one):
        x = torch.tensor(TABLE, dtype=D, requires_grad=True)
        own, w = x * 1, torch.tensor(WEIGHTS, dtype=D)
        result = one(own, w)
        own.zero_()
        return torch.autograd.grad(result.sum(), x)[0]

    torch.testing.assert_close(changed(lift(before_each, backend="torch", verify="off")), changed(before_each))


@pytest.mark.parametrize(("function", "given"), CASES[:7], ids=[one.__name__ for one, _ in CASES[:7]])
def test_many_gradients_are_computed_at_once(function, given):
    def slopes(one):
        first, *others = (torch.tensor(part, dtype=D) for part in given)
        return torch.autograd.functional.jacobian(lambda x: one(x, *others), first, vectorize=True)

    torch.testing.assert_close(slopes(lift(function, backend="torch", verify="off")), slopes(function))
