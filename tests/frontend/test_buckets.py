"""Lists of lists that a loop fills at places of the data, and another one reads: messages for each node."""

from __future__ import annotations

import ast
import collections
from collections import defaultdict

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference
from looplift.frontend.buckets import with_buckets

LAYER = torch.nn.Linear(3, 3)


def stacked(x, edges):
    box = [[] for _ in range(len(x))]
    for s, t in edges:
        box[t].append(torch.tanh(LAYER(x[s])))
    out = torch.zeros_like(x)
    for i in range(len(x)):
        if len(box[i]) > 0:
            out[i] = torch.stack(box[i], dim=0).mean(dim=0)
        else:
            out[i] = x[i]
    return out


def enumerated(x, edges):
    box = [[] for _ in range(x.shape[0])]
    for s, t in edges:
        box[t].append(LAYER(x[s]))
    out = torch.zeros_like(x)
    for i, m in enumerate(box):
        if len(m) == 0:
            continue
        out[i] = torch.relu(torch.stack(m).sum(0))
    return out


def all_of_them(x, edges):
    box = [[] for _ in range(len(x))]
    for s, t in edges:
        box[t].append(x[s] * x[t])
    out = []
    for m in box:
        if m:
            out.append(torch.stack(m).sum(0))
        else:
            out.append(torch.zeros(3))
    return torch.stack(out)


def counted_from_the_end(x, edges):
    box = [[] for _ in range(len(x))]
    for s, t in edges:
        box[t - 2].append(x[s])
    out = torch.zeros_like(x)
    for i in range(len(x)):
        near = box[i - 1]
        if len(near) > 0:
            out[i] = torch.stack(near).sum(0) * len(box)
    return out


def numbers(x, edges):
    box = [[] for _ in range(len(x))]
    for s, t in edges:
        box[t].append(s)
    out = []
    for i in range(len(x)):
        total = torch.zeros(3)
        for j in box[i]:
            total = total + x[j] / len(box[i])
        out.append(total)
    return torch.stack(out)


def neighbours_by_default(x, edges):
    near = defaultdict(list)
    for s, t in edges:
        near[t].append(s)
        near[s].append(t)
    out = []
    for i in range(len(x)):
        total = torch.zeros(3)
        for j in near[i]:
            total = total + x[j]
        out.append(torch.relu(LAYER(total)) / max(len(near[i]), 1))
    return torch.stack(out) if out else x


def messages_by_default(x, edges):
    box = collections.defaultdict(list)
    for s, t in edges:
        box[2 * t + 1].append(torch.tanh(LAYER(x[s])))
    out = torch.zeros_like(x)
    for i in range(len(x)):
        near = box[2 * i + 1]
        if len(near) > 0:
            out[i] = torch.stack(near).sum(0)
    return out


FUNCTIONS = [
    stacked,
    enumerated,
    all_of_them,
    counted_from_the_end,
    numbers,
    neighbours_by_default,
    messages_by_default,
]
EDGES = [
    [(0, 1), (1, 0), (1, 1), (2, 1), (3, 1), (0, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)], [(2, 2)], [(0, 0), (0, 0)], [],
    [(0, 1), (1, 4)], [(0, -1), (1, -1), (3, 0)],
]  # fmt: skip


def outcome(function, x, edges):
    """The result and its gradients, or what was raised."""
    try:
        result = function(x, edges)
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)
    if not result.requires_grad:
        return result, None
    weights = torch.linspace(1, 2, result.numel()).view_as(result)
    leaves = [x, *LAYER.parameters()] if x.requires_grad else [*LAYER.parameters()]
    return result, torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("asks", [False, True])
def test_values_and_gradients(function, backend, asks):
    lifted = lift(function, verify="off", backend=backend)
    rows = torch.linspace(-1, 1, 12).view(4, 3)
    for edges in [*EDGES, EDGES[0]]:
        for size in (4, 1, 0):
            some = [(s, t) for s, t in edges if max(s, t) < size or t == 4]
            wanted = outcome(function, rows[:size].clone().requires_grad_(asks), some)
            found = outcome(lifted, rows[:size].clone().requires_grad_(asks), some)
            assert not difference(found, wanted, magnitude=1.0)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_no_loop_stays(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(torch.linspace(-1, 1, 12).view(4, 3), EDGES[0])
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, lifted.report()


OTHERS = [
    "box[0] = []", "box.append([])", "f(box)", "f(box[0])", "box[0].append(1); box[1].sort()", "y = box",
    "y = [box[0]]", "y = box[0]; y.append(2)", "y = box[0]; y = 3", "del box[0]", "y = box[0] or box[1]",
    "y = [box[k] for k in range(3)]", "y = box[f()]", "y = box[0:2]; y += [1]", "y = box[0].pop()",
]  # fmt: skip


@pytest.mark.parametrize("use", OTHERS)
def test_lists_that_are_changed_or_kept_are_left_alone(use):
    text = f"box = [[] for _ in range(4)]\nfor s, t in edges:\n    box[t].append(s)\nfor i in range(4):\n    {use}\n"
    assert with_buckets(ast.parse(text).body, {}, {}, ()) is None


def test_lists_are_filled_before_they_are_read():
    def found(added, before="pass", live_out=()):
        text = "box = [[] for _ in range(4)]\nfor s, t in edges:\n    {}\n    box[t].append({})\nx = len(box[0])\n"
        return with_buckets(ast.parse(text.format(before, added)).body, {}, {}, live_out)

    assert found("s") is not None
    assert found("s", live_out=("box",)) is None
    assert found("len(box[s])") is None
    assert found("s", "m = box[s]") is None
    assert found("s", "if len(box[t]) > 2: continue") is None


KNOWN = {"defaultdict": defaultdict, "edges": [(0, 1), (2, 0)], "x": [0.5]}


@pytest.mark.parametrize(
    "use", [*OTHERS, "y = len(box)", "y = 0 in box", "y = list(box)", "y = box.get(0)", "y = x in box"]
)
def test_dicts_that_are_changed_or_kept_are_left_alone(use):
    text = f"box = defaultdict(list)\nfor s, t in edges:\n    box[t].append(s)\nfor i in range(4):\n    {use}\n"
    assert with_buckets(ast.parse(text).body, {}, KNOWN, ()) is None


@pytest.mark.parametrize(
    "key, edges",
    [("t", [(0, 1)]), ("t", [(0, 1.0)]), ("t", [(0, True)]), ("t", [(0, torch.tensor(1))]), ("t", [(0, "a")]),
     ("s + 2 * t", [(0, 1)]), ("w", [(0, 1)]), ("x[t]", [(0, 1)]), ("t", {(0, 1): 2}), ("t", [[0, 1]])],
)  # fmt: skip
def test_keys_are_integers(key, edges):
    text = f"box = defaultdict(list)\nfor s, t in edges:\n    box[{key}].append(s)\nfor i in range(4):\n"
    text += "    y = len(box[i])\n"
    found = with_buckets(ast.parse(text).body, {"w": 1}, KNOWN | {"edges": edges}, ())
    items = [item for pair in edges for item in pair]
    plain = all(type(pair) is tuple for pair in edges) and all(type(item) is int for item in items)
    assert (found is not None) == (plain and key in ("t", "s + 2 * t"))


def test_tensors_as_keys_are_each_their_own():
    lifted, x = lift(neighbours_by_default), torch.linspace(-1, 1, 12).view(4, 3)
    for edges in (EDGES[0], [tuple(map(torch.tensor, pair)) for pair in EDGES[0]], EDGES[0]):
        for _ in range(2):
            assert not difference(outcome(lifted, x, edges), outcome(neighbours_by_default, x, edges), magnitude=1.0)
