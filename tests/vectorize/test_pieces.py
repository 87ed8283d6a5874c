"""Loops whose intermediates do not fit into memory run piece by piece, or stay; programs, sizes and budgets in, the
loop's results and what each program took out."""

import tracemalloc

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import looplift.emit.budget
from looplift import lift
from looplift.base import budget

IN_PIECES = "in pieces that fit into memory"


def stored(x, y, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = torch.exp(-(x[i] - y[j]).abs().sum())
    return out


def filled(x, y):
    out = torch.zeros(x.shape[0], y.shape[0])
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] += torch.dot(x[i], y[j]) ** 2
    return out


def summed(x, y):
    total = 0
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            total = total + torch.norm(x[i] - y[j])
    return total


def least(x, y):
    best = torch.tensor(float("inf"))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            best = torch.minimum(best, (x[i] - y[j]).abs().sum())
    return best


def stacked(x, y):
    rows = []
    for row in x:
        rows.append(torch.softmax(y @ row, 0) @ y)
    return torch.stack(rows)


def listed(x, y):
    found = []
    for row in x:
        found.append(float((row[None] - y).norm(dim=1).min()))
    return found


def with_last(x, y):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        near = torch.exp(-(x[i] - y).abs()).sum()
        total = total + near
    return total, near, i


def backwards(x, y):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0] - 1, -1, -1):
        out[i] = (x[i] * y).exp().sum()
    return out


def by_threes(x, y):
    out = torch.zeros(x.shape[0])
    for i in range(0, x.shape[0], 3):
        out[i] = (x[i] * y).exp().sum()
    return out


def neighbours(x, y):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = (x[i - 1] * x[i] * y).sum()
    return out


def masked(x, y):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i, 0] > 0:
            out[i] = torch.log(x[i, 0] + (y * y).sum(1)).sum()
        else:
            out[i] = (x[i] * y).sum()
    return out


def inside_of_steps(x, y):
    h = torch.zeros(x.shape[0])
    for _ in range(3):
        new = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            total = torch.zeros(())
            for j in range(y.shape[0]):
                total = total + torch.tanh(h[i] * y[j, 0] + x[i, 1])
            new[i] = total
        h = new / 10
    return h


def repeated_places(x, y):
    out = torch.zeros(4)
    for i in range(x.shape[0]):
        out[i % 4] += (x[i] * y).sum()
    return out


PROGRAMS = [
    filled, summed, least, stacked, with_last, backwards, by_threes, neighbours, masked, inside_of_steps,
    repeated_places,
]  # fmt: skip


def values(rows, seed, columns=7, **options):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(n, 3, generator=generator, **options) for n in (rows, columns)]


@pytest.mark.parametrize("program", [*PROGRAMS, listed])
@pytest.mark.parametrize("memory", [700, 1500])
def test_pieces_have_the_results_of_the_loop(program, memory):
    lifted = lift(program, backend="torch", memory=memory, verify="off")
    for rows in (60, 61, 2, 1, 40):
        x, y = values(rows, rows)
        torch.testing.assert_close(lifted(x, y), program(x, y))
    assert IN_PIECES in [note for loop in lifted.report().loops for note in loop.notes]


@pytest.mark.parametrize("program", PROGRAMS)
def test_pieces_have_the_gradients_of_the_loop(program):
    lifted = lift(program, backend="torch", memory=900, verify="off")
    x, y = values(50, 3, requires_grad=True)
    given, wanted = (torch.autograd.grad(total(one(x, y)), (x, y), allow_unused=True) for one in (lifted, program))
    torch.testing.assert_close(given, wanted)


def total(result):
    """The sum of the tensors in a result."""
    return sum(part.sum() for part in (result if isinstance(result, tuple) else [result]) if torch.is_tensor(part))


def test_writes_into_an_array_of_the_caller():
    x, y = values(40, 1)
    lifted = lift(stored, backend="torch", memory=2000)
    out, wanted = torch.zeros(41, 8), torch.zeros(41, 8)
    assert lifted(x, y, out) is out
    torch.testing.assert_close(out, stored(x, y, wanted))
    assert "for start in range(0, x.shape[0], step):\n        stop = min(start + step, x.shape[0])" in lifted.source
    assert "step = max(1, 2000 // (20 * max(x.shape[1], y.shape[1]) * y.shape[0]))" in lifted.source


def test_an_array_that_is_too_small_is_not_touched():
    x, y = values(40, 1)
    lifted = lift(stored, backend="torch", memory=2000)
    out = torch.zeros(39, 7)
    with pytest.raises(IndexError):
        lifted(x, y, out)
    with pytest.raises(IndexError):
        stored(x, y, wanted := torch.zeros(39, 7))
    torch.testing.assert_close(out, wanted)


def test_whole_and_piece_by_piece_by_size():
    lifted = lift(stacked, backend="torch", memory=2000, verify="off")
    for rows, seen in ((5, False), (100, True), (6, True), (101, True)):
        x, y = values(rows, rows)
        torch.testing.assert_close(lifted(x, y), stacked(x, y))
        assert ("for start in" in lifted.source) == seen
    (dispatcher,) = lifted.__looplift_state__.dispatchers
    assert len(dispatcher.variants) == 2


def test_items_of_an_inner_loop_keep_their_order():
    def columns(x):
        items = []
        for _ in range(x.shape[0]):
            for j in range(x.shape[1]):
                items.append(torch.tanh(x[:, j - 1]))
        return items

    lifted = lift(columns, backend="torch", memory=100, verify="off")
    for shape in ((6, 2), (3, 3), (1, 4)):
        x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(lifted(x), columns(x))


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("limit", [0, 100])
def test_items_under_a_condition_that_all_iterations_share(limit, gradients):
    def conditional(x, y):
        rows = []
        for i in range(1, x.shape[0]):
            if y.shape[0] > limit:
                rows.append((x[0] * y).sum())
        return rows

    lifted = lift(conditional, backend="torch", memory=200, verify="off")
    for rows in (4, 9, 2):
        x, y = values(rows, rows, requires_grad=gradients)
        torch.testing.assert_close(lifted(x, y), conditional(x, y))


def test_numpy():
    def near(x, y):
        total, rows = 0.0, []
        for i in range(len(x)):
            d = np.exp(-((x[i] - y) ** 2).sum(axis=1))
            rows.append(d.argmax())
            total += d.sum()
        return np.array(rows), total

    lifted = lift(near, backend="torch", memory=3000)
    x, y = (part.double().numpy() for part in values(50, 2))
    for got, wanted in zip(lifted(x, y), near(x, y), strict=True):
        np.testing.assert_allclose(got, wanted)
    assert "np.concatenate(" in lifted.source


def test_strings():
    def matches(a, b):
        out = torch.zeros(len(a), len(b))
        for i in range(len(a)):
            for j in range(len(b)):
                if a[i] == b[j]:
                    out[i, j] = 1.0
        return out

    lifted = lift(matches, backend="torch", memory=2000, verify="off")
    for word in ("abcabc" * 20, "abc", "cab" * 50):
        assert torch.equal(lifted(word, "bca" * 9), matches(word, "bca" * 9))
    assert IN_PIECES in lifted.report().loops[0].notes


# ---------------------------------------------------------------- what it takes


class Largest(TorchDispatchMode):
    """The most bytes that one result of an operation takes, views of what is there already left out."""

    def __init__(self, *there):
        super().__init__()
        self.there = {tensor.untyped_storage().data_ptr() for tensor in there}
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() not in self.there:
            self.bytes = max(self.bytes, result.untyped_storage().nbytes())
        return result


def test_no_tensor_is_larger_than_the_budget():
    memory = 1 << 20
    x, y = values(1000, 0, columns=900)
    lifted = lift(stored, backend="torch", memory=memory, verify="off")
    out, again = lifted(x, y, torch.zeros(1000, 900)), torch.zeros(1000, 900)
    scope = {}
    exec(lifted.source, scope)
    with Largest(x, y, again) as seen:
        scope["stored"](x, y, again)
    assert torch.equal(again, out)
    assert memory / 10 < seen.bytes <= memory


def test_the_peak_stays_within_the_budget():
    def pairs(x, y):
        total = 0.0
        for i in range(len(x)):
            for j in range(len(y)):
                total += np.sqrt(((x[i] - y[j]) ** 2).sum())
        return total

    memory = 1 << 20
    x, y = (part.double().numpy() for part in values(800, 0, columns=700))
    lifted = lift(pairs, backend="torch", memory=memory, verify="off")
    lifted(x, y)
    tracemalloc.start()
    got = lifted(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < memory + (1 << 16)
    np.testing.assert_allclose(got, np.sqrt(((x[:, None] - y) ** 2).sum(-1)).sum())


# ---------------------------------------------------------------- what does not fit


def test_a_lane_that_is_too_large_leaves_the_inner_loop():
    lifted = lift(summed, backend="torch", memory=100, verify="off")
    x, y = values(9, 0, columns=60)
    torch.testing.assert_close(lifted(x, y), summed(x, y))
    outer, inner = lifted.report().loops
    assert (outer.decision, outer.code) == ("kept", "memory")
    assert "'memory'" in outer.reason
    assert inner.decision == "lanes"


def test_small_calls_are_lifted_after_one_that_did_not_fit():
    def chosen(x, y):
        found = []
        for row in x:
            if row[0] > 0:
                found.append((row * y).exp().sum())
        return found

    lifted = lift(chosen, backend="torch", memory=4000, verify="off")
    x, y = values(200, 1)
    torch.testing.assert_close(lifted(x, y), chosen(x, y))
    assert [(loop.decision, loop.code) for loop in lifted.report().loops] == [("kept", "memory")]
    torch.testing.assert_close(lifted(x[:9], y), chosen(x[:9], y))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_a_kernel_takes_what_does_not_fit():
    def masses(x, y):
        found = []
        for i in range(x.shape[0]):
            if x[i, 0] > 0:
                total = 0.0
                for j in range(y.shape[0]):
                    total += abs(float(x[i, 0]) - float(y[j, 0]))
                found.append(total)
        return found

    lifted = lift(masses, memory=1000, verify="off")
    x, y = values(200, 0, columns=50)
    np.testing.assert_allclose(lifted(x, y), masses(x, y), rtol=1e-12)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_the_default_is_a_share_of_what_is_free(monkeypatch):
    monkeypatch.setattr(budget, "SMALL", 0)
    monkeypatch.setattr(looplift.emit.budget, "PIECE", 4000)
    monkeypatch.setattr(budget, "free_bytes", lambda device=None: 4 * 5000)
    lifted = lift(stacked, backend="torch", verify="off")
    for rows in (5, 100):
        x, y = values(rows, rows)
        torch.testing.assert_close(lifted(x, y), stacked(x, y))
    assert "for start in range(" in lifted.source
