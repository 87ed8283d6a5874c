"""What is read before a write is what was there then, whatever rules of algebra have made of it."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import copies

from looplift import lift
from looplift.base.compare import difference
from looplift.ir.array import Node, Write
from looplift.ir.facts import Kind
from looplift.optimize.times import Times


def projected_then_decayed(x, weights):
    total = 0
    for i in range(x.shape[0]):
        total = total + x[i] @ weights
    for k in range(weights.shape[0]):
        weights[k] = weights[k] * 0.5
    return total, weights


def groups_then_relabelled(x, labels, classes):
    sums = []
    for c in range(classes):
        sums.append(x[labels == c].sum(0))
    labels[1:3] = 0
    x[0] = 7
    return torch.stack(sums)


def counts_then_relabelled(x, labels, classes):
    counts = []
    for c in range(classes):
        counts.append((labels == c).sum())
    for k in range(3):
        labels[k] = classes - 1
    return counts, labels


def products_then_zeroed(x, weights):
    first = 0
    for i in range(x.shape[0]):
        first = first + torch.dot(x[i], weights[:, 0])
    weights[0] = 0
    second = 0
    for i in range(x.shape[0]):
        second = second + torch.dot(x[i], weights[:, 0])
    return first, second


def in_a_loop_that_stays(x, weights, state):
    for _ in range(3):
        total = torch.zeros(weights.shape[1])
        for i in range(x.shape[0]):
            total = total + x[i] @ weights
        for k in range(weights.shape[0]):
            weights[k] = weights[k] * 0.5 + 0.1
        state = torch.tanh(state + total)
    return state, weights


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    "function",
    [
        projected_then_decayed, groups_then_relabelled, counts_then_relabelled, products_then_zeroed,
        in_a_loop_that_stays,
    ],
)  # fmt: skip
def test_a_sum_is_of_what_was_there_before_the_write(function, backend):
    torch.manual_seed(0)
    lifted = lift(function, backend=backend, verify="off")
    for rows in (6, 3, 4):
        x = torch.randn(rows, 4)
        rest = (torch.randint(0, 3, (rows,)), 3) if "relabelled" in function.__name__ else (torch.randn(4, 2),)
        rest += (torch.randn(2),) if function is in_a_loop_that_stays else ()
        wanted, given = (copies([x, *rest], gradients=False) for _ in range(2))
        want, got = function(*wanted), lifted(*given)
        assert difference(want, got) is None
        assert difference(wanted, given) is None


def test_the_loops_are_still_lifted():
    lifted = lift(projected_then_decayed, backend="torch", verify="off")
    lifted(torch.randn(5, 4), torch.randn(4, 3))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert "x.sum(0) @ weights" in lifted.source


def sums_of_arrays(a, n):
    whole = a.sum()
    out = np.zeros(n)
    for k in range(a.shape[0]):
        a[k] = 0
    for i in range(n):
        out[i] = np.hstack([whole, np.array([1.0, i])]).sum()
    return out


def test_what_is_made_anew_for_a_join_was_computed_before_the_write():
    lifted = lift(sums_of_arrays, verify="off")
    for _ in range(2):
        np.testing.assert_allclose(lifted(np.arange(5.0), 3), sums_of_arrays(np.arange(5.0), 3))


FLOATS = Kind("tensor", torch.float32, 1)


def memory(text):
    return Node("name", (), (), FLOATS, {"text": text, "memory": True})


def called_of(name, *args):
    return Node("elementwise", args, (), FLOATS, {"name": name})


def test_a_rule_does_not_read_through_a_value_of_before_a_write():
    w, x = memory("w"), memory("x")
    before = called_of("neg", w)
    write = Write("w", w, "set", (w,))
    after = called_of("add", before, x)
    times = Times([write])
    read_later = called_of("sub", x, w)
    assert not times.put_in_place(after, read_later)
    kept = called_of("add", x, before)
    assert times.put_in_place(after, kept)
    assert kept.time == after.serial
    assert not times.put_in_place(before, w)


def test_a_rule_applies_where_no_write_lies_between():
    w, x = memory("w"), memory("x")
    early = called_of("add", called_of("neg", w), x)
    write = Write("w", w, "set", (w,))
    late = called_of("add", called_of("neg", w), x)
    times = Times([write])
    for node in (early, late):
        made = called_of("sub", x, called_of("abs", w))
        assert times.put_in_place(node, made)
        assert made.time == made.args[1].time == node.serial
    assert times.put_in_place(late, w)
