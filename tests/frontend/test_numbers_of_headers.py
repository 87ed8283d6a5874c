"""Numbers that a loop's header takes from a tensor are taken in front of the loop, at the same moment."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from looplift import lift
from looplift.frontend.headers import with_numbers_in_front


def overlap(a, b):
    width = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    height = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    inter = width * height
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def best_boxes(boxes, scores, most):
    keep = []
    for i in scores.argsort(descending=True).tolist():
        ok = True
        for j in keep:
            if overlap(boxes[i], boxes[j]) > most:
                ok = False
                break
        if ok:
            keep.append(i)
    return keep


def ranked(boxes, scores, most):
    keep, places = [], []
    for place, i in enumerate(scores.sort(dim=0, descending=True)[1].tolist()):
        for j in keep:
            if overlap(boxes[i], boxes[j]) > most:
                break
        else:
            keep.append(i)
            places.append(place)
            scores[i] = 0.0
        keep = keep[:3] if len(keep) > 5 else keep
    return keep, places, scores


def given_up(boxes, scores, most):
    keep = None
    try:
        keep = []
        for i in scores.topk(100, largest=True).indices.tolist():
            keep.append(i)
    except RuntimeError:
        return keep


def drawn() -> tuple[Any, ...]:
    low = torch.rand(9, 2, dtype=torch.float64) * 4
    boxes = torch.cat([low, low + torch.rand(9, 2, dtype=torch.float64) * 3 + 0.1], 1)
    return boxes, torch.rand(9), 0.2


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [best_boxes, ranked, given_up], ids=lambda function: function.__name__)
def test_loops_over_an_order_give_what_they_gave(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(4):
        torch.manual_seed(seed)
        want = function(*drawn())
        torch.manual_seed(seed)
        torch.testing.assert_close(lifted(*drawn()), want, rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_loop_over_an_order_is_a_program_over_given_numbers(backend):
    lifted = lift(best_boxes, backend=backend, verify="off")
    torch.manual_seed(0)
    lifted(*drawn())
    assert "2 native" in str(lifted.report())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "keep = []\nfor i in s.sort(dim=0)[0].tolist(): keep.append(i)",
            "_numbers_0 = s.sort(dim=0)[0].tolist()\nkeep = []\nfor i in _numbers_0:\n    keep.append(i)",
        ),
        (
            "s = 0\nfor k, i in enumerate(f(s, dim=0).tolist(), start=1): k",
            "s = 0\n_numbers_0 = f(s, dim=0).tolist()\nfor k, i in enumerate(_numbers_0, start=1):\n    k",
        ),
        (
            "global keep\nkeep = []\nfor i in s.sort(dim=0)[0].tolist(): keep.append(i)",
            "global keep\nkeep = []\n_numbers_0 = s.sort(dim=0)[0].tolist()\nfor i in _numbers_0:\n    keep.append(i)",
        ),
        (
            "keep = []\ntry:\n  keep = []\n  for i in s.sort(dim=0)[0].tolist(): 1\nfinally:\n  g(keep)",
            "keep = []\ntry:\n    keep = []\n    _numbers_0 = s.sort(dim=0)[0].tolist()\n    for i in _numbers_0:\n"
            "        1\nfinally:\n    g(keep)",
        ),
        ("for i in s.argsort().tolist(): i", "for i in s.argsort().tolist():\n    i"),
        (
            "for i, j in zip(g(), s.sort(dim=0)[0].tolist()): i",
            "for i, j in zip(g(), s.sort(dim=0)[0].tolist()):\n    i",
        ),
    ],
)
def test_statements_move_where_nobody_notices(body, expected):
    tree = ast.parse("def function(s):\n" + "\n".join(f" {line}" for line in body.splitlines())).body[0]
    assert isinstance(tree, ast.FunctionDef)
    found = "\n".join(map(ast.unparse, with_numbers_in_front(tree).body))
    assert found == expected
