"""Few rows of many tensors are picked out of each by itself: values and gradients are the loop's."""

import pytest
import torch

from looplift import lift
from looplift.runtime import waves_batches
from looplift.runtime.waves_batches import Batches


@pytest.mark.parametrize("rows", [[5], [0, 1, 2], [7, 0, 7, 3], [4, 4, 9, 2, 0], list(range(10))])
def test_rows_of_several_tensors(rows):
    values = [torch.rand(3, 2, requires_grad=True), torch.rand(1, 2), torch.rand(6, 2, requires_grad=True)]
    got, want = Batches().picked_apart(values, rows), torch.cat(values)[rows]
    assert torch.equal(got, want)
    if want.requires_grad and got.requires_grad:
        weights, asked = torch.rand_like(want), [values[0], values[2]]
        slopes = [torch.autograd.grad((one * weights).sum(), asked, allow_unused=True) for one in (got, want)]
        for one, other in zip(*slopes, strict=True):
            torch.testing.assert_close(torch.zeros_like(other) if one is None else one, other)


def evaluated(node, x):
    if node[0] == "x":
        return x[:, node[1]]
    if node[0] == "sin":
        return torch.sin(evaluated(node[1], x))
    return evaluated(node[1], x) * evaluated(node[2], x)


def errors(trees, x, y):
    found = []
    for tree in trees:
        found.append(((evaluated(tree, x) - y) ** 2).mean())
    return torch.stack(found)


@pytest.mark.parametrize("sparse", [0, 3])
def test_trees_of_several_depths(monkeypatch, sparse):
    monkeypatch.setattr(waves_batches.Batches, "SPARSE", sparse)
    leaf, other = ("x", 0), ("x", 2)
    deep = ("*", ("sin", ("*", leaf, other)), ("sin", other))
    trees = [deep, ("*", deep, leaf), ("sin", deep), ("*", ("sin", leaf), deep), other, ("*", deep, deep)]
    lifted = lift(errors, verify="off")
    x, y = torch.rand(7, 3, dtype=torch.float64, requires_grad=True), torch.rand(7, dtype=torch.float64)
    got, want = lifted(trees, x, y), errors(trees, x, y)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(torch.autograd.grad(got.sum(), x), torch.autograd.grad(want.sum(), x))


def parts_and_rows(names, x):
    last, total, seen = None, torch.zeros(()), []
    for i in range(len(names)):
        last = x[i] * 2
        total = total + x[i, 0] * 0.3
        seen.append(names[i] + "!")
    return last, total, seen


def rows_and_parts(names, x):
    last, total, seen = None, torch.zeros(()), []
    for i in range(len(names)):
        total = total + x[i, 0] * 0.3
        last = x[i] * total
        seen.append(names[i] + "!")
    return last, total, seen


@pytest.mark.parametrize("program", [parts_and_rows, rows_and_parts])
def test_parts_beside_whole_rows(program):
    given = [str(k) for k in range(6)], torch.rand(6, 3)
    for got, wanted in zip(lift(program, verify="off")(*given), program(*given), strict=True):
        assert torch.allclose(got, wanted) and got.shape == wanted.shape if torch.is_tensor(wanted) else got == wanted
