"""Calls that write into an operand: loops with them are kept, and trying them changes nothing."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import torch
from tests.vectorize.harness import outcome
from torch.nn import functional

from looplift import lift

NUMPY = """x[i].sort(); x[i].partition(1); x[i].fill(2.0); x[i].put([0], 3.0); x[i].byteswap(True)
np.add(x[i], a[i], b); np.abs(x[i], b); x[i].clip(0, 1, b); np.nan_to_num(x[i], False); np.copyto(x[i], 2.0)
np.fill_diagonal(x, i); np.put(x[i], [0], 2.0); np.round(x[i], 0, b); np.less_equal(x[i], a[i], b)"""
TORCH = """functional.relu(x[i], True); functional.leaky_relu(x[i], 0.1, True); functional.relu(x[i], inplace=True)
functional.batch_norm(x, b, a[0], None, None, True); functional.embedding(torch.tensor([0, 1]), x, None, 0.1)
functional.mish(x[i], True); torch.add(x[i], 1, out=b); functional.dropout(x[i], 0.0, True, True)"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.split(";")]


def run(expression: str, namespace: dict):
    text = f"def program(x, a, b):\n    for i in range(len(x)):\n        {expression}\n    return x, b\n"
    label = f"<loop of {expression}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = dict(namespace)
    exec(compile(text, label, "exec"), scope)
    return scope["program"]


@pytest.mark.parametrize("expression", expressions(NUMPY))
def test_numpy_calls_that_write(expression):
    random = np.random.default_rng(3)
    values = [random.normal(size=(4, 3)), random.normal(size=(4, 3)), np.zeros(3)]
    function = run(expression, {"np": np})
    wanted = outcome(function, values, gradients=False)
    lifted = lift(function, verify="off")
    for _ in range(2):
        np.testing.assert_equal(outcome(lifted, values, gradients=False), wanted)
    known = "native" if expression == "x[i].fill(2.0)" else "kept"  # programs fill rows
    assert {loop.decision for loop in lifted.report().loops} == {known}


@pytest.mark.parametrize("expression", expressions(TORCH))
def test_torch_calls_that_write(expression):
    generator = torch.Generator().manual_seed(3)
    values = [torch.randn(4, 3, generator=generator), torch.rand(4, 3, generator=generator), torch.zeros(3)]
    function = run(expression, {"torch": torch, "functional": functional})
    wanted = outcome(function, values, gradients=False)
    lifted = lift(function, verify="off")
    for _ in range(2):
        got = outcome(lifted, values, gradients=False)
        assert all(torch.equal(g, w) for g, w in zip(got["result"], wanted["result"], strict=True))
        assert all(torch.equal(g, w) for g, w in zip(got["arguments"], wanted["arguments"], strict=True))
    assert {loop.decision for loop in lifted.report().loops} == {"kept"}


def test_what_is_told_not_to_write_is_lifted():
    def rectified(x, out):
        for i in range(len(x)):
            out[i] = functional.relu(x[i], False)
        return out

    lifted = lift(rectified, verify="off", backend="torch")
    x = torch.randn(4, 3)
    assert torch.equal(lifted(x, torch.zeros(4, 3)), rectified(x, torch.zeros(4, 3)))
    assert lifted.report().loops[0].decision == "lanes"
