"""Loops whose first iteration is another than the rest."""

import ast
import copy
import heapq
import math

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference
from looplift.frontend.firsts import with_firsts
from looplift.frontend.known_tests import Linear, of_index


def smoothed(x):
    out = []
    for t in range(len(x)):
        if t == 0:
            out.append(x[t])
        else:
            out.append(0.9 * out[-1] + 0.1 * x[t])
    return torch.stack(out)


def states(x):
    hidden, cells = [], []
    for row in x:
        if not hidden:
            h, c = row, row * 2
        else:
            h, c = torch.tanh(hidden[-1] + row), cells[-1] * 0.5 + row
        hidden.append(h)
        cells.append(c)
    return torch.stack(hidden), torch.stack(cells)


def by_length(x):
    out = []
    for i, v in enumerate(x):
        out.append(v * 1 if len(out) == 0 else 0.5 * out[i - 1] + v)
    return torch.stack(out)


def unbound_before(x):
    for i, row in enumerate(x):
        if i == 0:
            total = row.clone()
        else:
            total = total * 0.5 + row
    return total


def last_of_each(x):
    out = []
    for row in x:
        h = None
        for t, v in enumerate(row):
            if t == 0:
                h = v
            else:
                h = torch.tanh(h + v)
        out.append(h)
    return torch.stack(out)


def backwards(x):
    steps, out, g = len(x), torch.zeros_like(x), None
    for t in reversed(range(steps)):
        if t + 1 < steps:
            following = 0.9 * g
        else:
            following = 0
        g = x[t] + following
        out[t] = g
    return out


def downwards(x):
    g = None
    for t in range(len(x) - 1, -1, -1):
        if t == len(x) - 1:
            g = x[t]
        else:
            g = g * 0.5 + x[t]
    return g


def differences(x):
    out = []
    for i in range(len(x)):
        if i == 0:
            last = x[i]
            continue
        out.append(x[i] - last)
        last = x[i] * 0.5 + last * 0.5
    return torch.stack(out)


def pairs(x, y):
    previous, out = None, []
    for k, (a, b) in enumerate(zip(x, y)):
        if k > 0:
            out.append(a * previous)
        previous = b
    return out


def joined(x):
    rows = None
    for i in range(len(x)):
        if i == 0:
            rows = x[i].reshape(1, -1)
        else:
            rows = torch.cat([rows, x[i].reshape(1, -1)], 0)
    return rows


def from_two(x):
    total = 0.0
    for i in range(2, len(x)):
        if i <= 2:
            p = x[i - 1] * x[i - 2]
        total = total + p * x[i]
        p = p * 0.3 + x[i]
    return total


def lowest_so_far(prices):
    lowest, best = None, 0
    for i, v in enumerate(prices):
        if not i:
            lowest = v
        else:
            best = max(best, v - lowest)
            lowest = min(lowest, v)
    return best


def array_of_means(x):
    out = []
    for v in x:
        out.append(v + 0.5 * out[-1] if out else v)
    return np.array(out)


X = torch.linspace(-1, 1, 12).reshape(6, 2) ** 3
LIFTED = [
    *((fn, X) for fn in (smoothed, states, by_length, unbound_before, backwards, downwards, differences, joined)),
    (last_of_each, X.reshape(3, 2, 2)), (last_of_each, [X[:3], X[1:2], X[2:]]), (pairs, X, X[1:] + 2), (from_two, X),
    (lowest_so_far, [7, 1, 5, 3, 6, 4]), (array_of_means, X[:, 0].numpy().astype(np.float64)),
]  # fmt: skip


def outcome(fn, arguments, gradients):
    arguments = copy.deepcopy(arguments)
    leaves = [one.requires_grad_() for one in arguments if torch.is_tensor(one)] if gradients else []
    try:
        result = fn(*arguments)
    except Exception as error:
        return type(error), str(error)
    if not leaves:
        return result, arguments
    found = result if isinstance(result, tuple | list) else [result]
    return result, torch.autograd.grad(sum((k + 1) * one.sum() for k, one in enumerate(found)), leaves)


@pytest.mark.parametrize(("fn", "arguments"), [(fn, arguments) for fn, *arguments in LIFTED])
@pytest.mark.parametrize("gradients", [False, True])
def test_the_first_iteration_stands_before_the_loop(fn, arguments, gradients):
    lifted = lift(fn, verify="off")
    for _ in range(2):
        assert difference(outcome(lifted, arguments, gradients), outcome(fn, arguments, gradients)) is None
    decisions = [loop.decision for loop in lifted.report().loops]
    assert decisions and "kept" not in decisions


@pytest.mark.parametrize("fn", [smoothed, states, unbound_before, backwards, downwards, differences, joined])
def test_without_iterations_the_loop_is_asked(fn):
    assert difference(outcome(lift(fn, verify="off"), [X[:0]], False), outcome(fn, [X[:0]], False)) is None


def index_changed(x):
    out = []
    for t in range(len(x)):
        if t == 0:
            h = x[t]
        else:
            h = h * 0.5 + x[t]
        t = t + 1
        if t == 1:
            h = h * 2
        out.append(h)
    return torch.stack(out)


def list_cleared(x):
    out, total = [], x[0] * 0
    for t in range(len(x)):
        if not out:
            out.append(x[t])
        else:
            total = total + out[-1]
            out.clear()
    return total


def list_of_another_name(x):
    out = []
    same = out
    for t in range(len(x)):
        if not out:
            same.append(x[t])
        else:
            same.append(out[-1] * 0.5 + x[t])
    return torch.stack(out)


def name_of_a_comprehension(x):
    h = None
    for t in range(len(x)):
        weights = [0.0 if t == 0 else 1.0 for t in range(3)]
        if t == 0:
            h = x[t] * weights[0]
        else:
            h = h * 0.5 + x[t] * weights[1]
    return h


def growing_bound(x):
    out = [x[0]]
    for t in range(len(out) - 1, -1, -1):
        out.append(x[t])
        if t == len(out) - 1:
            out.append(x[1])
    return torch.stack(out)


def deleted_from_the_end(x):
    rows, out = list(x), []
    for i in range(len(rows) - 1, 0, -1):
        if i == len(rows) - 1:
            h = rows[i]
        else:
            h = torch.tanh(h + rows[i])
        del rows[-1]
        out.append(h)
    return torch.stack(out)


def cut_short(x):
    rows, total = list(x), torch.zeros(3)
    for i in range(len(rows) - 1, -1, -1):
        if i == len(rows) - 1:
            total = total * 0.5 + rows[0]
        else:
            total = torch.tanh(total - 1)
        rows[2:] = []
    return total


def taken_from_a_heap(x):
    places, total = list(range(len(x))), torch.zeros(3)
    for i in range(len(places) - 1, -1, -1):
        if i == len(places) - 1:
            total = total * 0.5 + x[i]
        else:
            total = torch.tanh(total - x[i])
        heapq.heappop(places)
    return total


def beside_a_great_number(x, great=1e17):
    h = torch.zeros(3)
    for i in range(len(x)):
        if great + i > great:
            h = h * 0.5 + x[i]
        else:
            h = torch.tanh(h - x[i])
    return h


def beside_no_number(x, unknown=math.nan):
    h = torch.zeros(3)
    for i in range(len(x)):
        if i + unknown - unknown == 0 or unknown + i >= unknown:
            h = h * 0.5 + x[i]
        else:
            h = torch.tanh(h - x[i])
    return h


def keys(x):
    table = {1: x[0], 0: x[1], 2: x[2]}
    for i, k in enumerate(table):
        if i == 0:
            total = table[k]
        else:
            total = total * 0.5 + table[k]
    return total


def left_early(x):
    for i in range(len(x)):
        if i == 0:
            h = x[i]
        if h.sum() > 0.5:
            break
        h = h * 0.5 + x[i] * 2
    return h, i


@pytest.mark.parametrize(
    "fn",
    [index_changed, list_cleared, list_of_another_name, name_of_a_comprehension, growing_bound, deleted_from_the_end,
     cut_short, taken_from_a_heap, beside_a_great_number, beside_no_number, keys, left_early],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_what_changes_is_not_taken_for_known(fn, backend):
    assert difference(outcome(lift(fn, backend=backend, verify="off"), [X], False), outcome(fn, [X], False)) is None


@pytest.mark.parametrize("text", ["i == 2", "i != 2", "i > 2", "2 < i", "i >= 3", "i <= 2", "i < 3", "i - 2 == 0", "i"])
@pytest.mark.parametrize("step", [1, -1])
def test_what_is_known_holds_in_all_iterations(text, step):
    node = ast.parse(text, mode="eval").body
    for first in range(-4, 6):
        known = {later: of_index("i", Linear({}, first), step, (), later=later)(node) for later in (False, True)}
        assert known[False] is bool(eval(text, {"i": first}))
        others = {bool(eval(text, {"i": first + step * k})) for k in range(1, 20)}
        assert known[True] is (others.pop() if len(others) == 1 else None)


@pytest.mark.parametrize("text", ["n + i > n", "i + n - n > 2", "i > 2 + n - n", "-n + i == 2 - n"])
def test_names_that_may_be_no_integers_do_not_cancel(text):
    test = ast.parse(text, mode="eval").body
    assert of_index("i", Linear({}, 2), 1, (), later=True)(test) is None
    assert of_index("i", Linear({}, 2), 1, (), later=False)(test) is None


def test_names_of_the_first_index_do():
    test = ast.parse("i > n", mode="eval").body
    assert of_index("i", Linear({"n": 1}, 0), 1, (), later=False)(test) is False
    assert of_index("i", Linear({"n": 1}, 0), 1, (), later=True)(test) is True


def test_tests_of_other_things_are_left():
    known = of_index("i", Linear({"n": 1}, -1), -1, {"m"}, later=True)
    texts = ["i == m", "i == k", "j == 0", "i * 2 == n", "f(i) == n", "i == n - 0.5", "i < n < 3", "i is n"]
    assert all(known(ast.parse(text, mode="eval").body) is None for text in texts)
    assert known(ast.parse("i + 1 == n", mode="eval").body) is False


def test_loops_without_such_tests_stay():
    text = "for i in range(n):\n    if i == 3:\n        total += i\n"
    assert with_firsts(ast.parse(text).body, {"n": 4}) is None
