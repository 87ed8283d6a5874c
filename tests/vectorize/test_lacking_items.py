"""Items of lists that a loop fills, of which the first lacks an input that the others have."""

import pytest
import torch

from looplift import lift


def smoothed(rows, a, w):
    found = []
    for row in rows:
        s = torch.zeros((), dtype=a.dtype)
        before, after = [], []
        for t in range(len(row)):
            p = a * s
            s = torch.tanh(p * 0.5 + w * row[t])
            before.append(p)
            after.append(s)
        last = after[-1]
        kept = [last]
        for t in range(len(row) - 2, -1, -1):
            last = after[t] + a * torch.tanh(last - before[t + 1])
            kept.insert(0, last)
        found.append(torch.stack(kept))
    return torch.stack(found)


def first_items(rows, a, w):
    found = []
    for row in rows:
        s = torch.ones((), dtype=a.dtype)
        before = []
        for t in range(len(row)):
            p = a * s
            s = p + w * row[t]
            before.append(p)
        found.append(before[0])
    return torch.stack(found)


def one_by_one(rows, a, w):
    found = []
    for row in rows:
        s = torch.ones((), dtype=a.dtype)
        before = []
        for t in range(len(row)):
            before.append(a * s)
            s = before[t] + w * row[t]
        total = torch.zeros((), dtype=a.dtype)
        for t in range(len(row) - 1, -1, -1):
            total = total * 0.5 + before[t]
        found.append(total)
    return found


def turned(rows, a, w):
    found = []
    for row in rows:
        s = torch.ones((), dtype=a.dtype)
        before = [a * s]
        for t in range(len(row)):
            s = before[-1] + w * row[t]
            before.append(s * a)
        before.reverse()
        found.append(torch.stack(before)[0] + before[1])
    return found


def halves(rows, a, w):
    found = []
    for row in rows:
        s, seen = torch.ones((), dtype=a.dtype), []
        for t in range(len(row)):
            seen.append(s * 2)
            s = s * a if t < 1 else s * w
        back = torch.zeros((), dtype=a.dtype)
        for t in range(len(row)):
            back = torch.maximum(back, seen[t]) if t > 1 else back + seen[t]
        found.append(back)
    return torch.stack(found)


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", [smoothed, first_items, one_by_one, turned, halves], ids=lambda one: one.__name__)
def test_which_inputs_have_gradients(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for count, length in ((3, 4), (2, 1), (4, 2), (1, 3), (2, 6)):
        torch.manual_seed(count + length)
        rows = torch.randn(count, length, dtype=torch.float64)
        inputs = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in (0.7, 0.3)]
        got, wanted = lifted(rows, *inputs), loop(rows, *inputs)
        torch.testing.assert_close(got, wanted)
        ours, theirs = (list(one.flatten()) if isinstance(one, torch.Tensor) else one for one in (got, wanted))
        for mine, known in zip(ours, theirs, strict=True):
            assert mine.requires_grad == known.requires_grad
            if known.requires_grad:
                pair = [torch.autograd.grad(one, inputs, allow_unused=True, retain_graph=True) for one in (mine, known)]
                for slope, right in zip(*pair, strict=True):
                    assert (slope is None) == (right is None)
                    if right is not None:
                        torch.testing.assert_close(slope, right)


def test_all_rows_run_together():
    lifted = lift(smoothed, backend="torch", verify="off")
    lifted(torch.randn(3, 5, dtype=torch.float64), *(torch.tensor(0.5, dtype=torch.float64, requires_grad=True),) * 2)
    assert [one.decision for one in lifted.report().loops] == ["lanes", "sequential", "sequential"]
