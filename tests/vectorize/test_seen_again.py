"""What a loop sees of memory, items and gradients in other iterations: the answer is the loop's, lifted or not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def check(loop, values, *, gradients=True, decisions=None):
    for backend in ("auto", "torch", "native"):
        lifted = lift(loop, verify="off", backend=backend)
        for _ in range(2):
            wanted, found = (outcome(one, values, gradients=gradients) for one in (loop, lifted))
            why = difference(found, wanted, magnitude=1.0, path="call")
            assert not why, f"{backend}: {why}\n{lifted.report()}"
        if decisions is not None and backend == "torch":
            assert {one.decision for one in lifted.report().loops} == decisions, lifted.report()


# ---------------------------------------------------------------- views of what is written to


def added_to_itself(out, m):
    for i, row in enumerate(out):
        for _ in range(m):
            out[i] += row
    return out


def added_by_a_name(out, m):
    for i in range(len(out)):
        row = out[i]
        for _ in range(m):
            out[i] += row
    return out


def subtracted_everywhere(out, m):
    for row in zip(out, out):
        for j in range(0, len(out), 2):
            out[j] -= row[0]
    return out


def compared_after_a_store(out, m):
    best = 0.0
    for i, row in enumerate(out):
        for j in range(m):
            out[i] = j + 1
            if row > best:
                best = row.item()
    return best


@pytest.mark.parametrize("loop", [added_to_itself, added_by_a_name, subtracted_everywhere, compared_after_a_store])
@pytest.mark.parametrize("x", [torch.arange(4.0) + 1, (torch.arange(8.0) + 1)[::2]], ids=["whole", "strided"])
def test_a_view_sees_what_is_stored(loop, x):
    check(loop, [x, 3], gradients=False)


def copied_to_others(out, m):
    row = out[0]
    for j in range(1, len(out)):
        out[j] = row
    return out


def test_a_view_that_stores_leave_as_it_is_is_lifted():
    check(copied_to_others, [torch.arange(4.0), 0], gradients=False, decisions={"lanes"})


def test_overlapping_memory_is_written_as_by_the_loop():
    def squares(x):
        total = 0.0
        for i, row in enumerate(x):
            for j in range(0, x.shape[1], 3):
                total = max(sum((row[j] for _ in range(len(x)) if x[i][j] != 1.0)), 0.0)
        for i in range(1, x.shape[1] - 1):
            x[j, i] *= x[j, i]
        return x, total

    for backend in ("auto", "native"):
        x, y = (torch.arange(1.0, 7.0).as_strided((3, 3), (1, 1)) for _ in range(2))
        assert difference(lift(squares, backend=backend)(x), squares(y), magnitude=1.0, path="call") is None
        assert torch.equal(x, y)


def kept_until_replaced(x, y):
    held, found = torch.zeros(()), []
    for i in range(len(x)):
        if y[i] > 0:
            held = torch.sum(x[i])
        found.append(held)
    return found


def test_an_object_that_is_put_into_a_list_again_is_that_object():
    x, y = torch.randn(5, 3), torch.tensor([-1.0, 1.0, -1.0, -1.0, 1.0])
    found = lift(kept_until_replaced, verify="off")(x, y)
    assert found[1] is found[2] is found[3] and found[4] is not found[3]


# ---------------------------------------------------------------- every pair of items of other lengths


def means_and_sums(u):
    out = torch.zeros(len(u), len(u))
    for i in range(len(u)):
        a = u[i].sum()
        for j in range(len(u)):
            out[i, j] = u[j].mean() + a
    return out


def lengths_of_both(u):
    found = []
    for p in u:
        for q in u:
            found.append(p.var() * q.mean() + len(p) * q.sum() + len(q))
    return torch.stack(found)


def counted(u):
    count = 0
    for p in u:
        s = p.mean()
        for q in u:
            if q.mean() + s >= 0.2:
                count += 2
    return count


@pytest.mark.parametrize("loop", [means_and_sums, lengths_of_both, counted])
def test_items_of_two_loops_over_one_list_have_their_own_lengths(loop):
    generator = torch.Generator().manual_seed(3)
    items = [torch.randn(k, generator=generator) for k in (3, 2, 5, 4)]
    decisions = {"kept"} if loop is counted else {"lanes"}  # what decides keeps the order of its sum
    check(loop, [items], gradients=loop is not counted, decisions=decisions)


# ---------------------------------------------------------------- gradients of what some iterations do not take


def appended(x):
    out = []
    for i in range(len(x)):
        v = (x[i] * i).abs() ** 0.5
        if i > 0:
            out.append(v)
    return torch.stack(out)


def appended_together(x):
    out = []
    for i in range(len(x)):
        v = torch.sqrt(x[i] * i)
        if i == 0:
            continue
        out.append(torch.stack([v, v * 2]))
    return torch.cat(out)


def stored_at_some(x):
    out = torch.zeros(len(x))
    for i in range(0, len(x), 2):
        v = torch.sqrt(x[i] * i)
        if i > 0:
            out[i] = v
    return out


def stored_into_slices(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[:i] += torch.sqrt(x[i] * i)
    return out


def taken_in_inner_loops(x):
    total = 0.0
    for i in range(len(x)):
        v = torch.sqrt(x[i] * i)
        for c in range(i):
            total = total + v * c
    return total


def taken_in_steps(x):
    out = torch.zeros(3)
    for i in range(len(x)):
        v = torch.sqrt(x[i] * i)
        if i > 0:
            out[i % 3] = max(out[i % 3], v)
    return out


def taken_by_a_state(x):
    h = torch.zeros(2)
    for i in range(len(x)):
        v = torch.sqrt(x[i] * i)
        if i % 3 == 1:
            h = torch.tanh(h + v)
    return h


MASKED = [appended, appended_together, stored_at_some, stored_into_slices, taken_in_inner_loops, taken_in_steps,
          taken_by_a_state]  # fmt: skip


@pytest.mark.parametrize("loop", MASKED, ids=lambda loop: loop.__name__)
def test_no_gradient_of_zero_becomes_nan(loop):
    check(loop, [torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])


def sums_of_rows(rows, m):
    out = torch.zeros(len(rows))
    for j in range(len(rows)):
        s = 0.0
        for _ in range(m[j]):
            s += rows[j].sum()
        out[j] = s
    return out


def stored_items(rows, m):
    out = torch.zeros(len(rows))
    for j in range(len(rows)):
        for c in range(m[j]):
            out[j] += rows[j][c]
    return out


def all_in_one(rows, m):
    total = 0.0
    for j in range(len(rows)):
        for c in range(m[j]):
            total = total + rows[j][c]
    return total


def listed(rows, m):
    found = []
    for j in range(len(rows)):
        for c in range(m[j]):
            found.append(rows[j] * c)
    return torch.stack(found)


@pytest.mark.parametrize("counts", [[1, 2, 0, 3, 1], [1, 2, 1, 3, 1]], ids=["without", "each"])
@pytest.mark.parametrize("loop", [sums_of_rows, stored_items, all_in_one, listed])
def test_an_item_that_no_iteration_takes_has_no_gradient(loop, counts):
    rows = [torch.arange(4.0) + i for i in range(5)]
    check(loop, [rows, counts])
    check(loop, [rows, torch.tensor(counts)])


# ---------------------------------------------------------------- NumPy: the last one that is stored at a place


def last_on_the_diagonal(y):
    grid = np.zeros((3, 3))
    for i in range(3):
        for j in range(4):
            grid[i, i] = y[i][3 - j]
    return grid


def last_at_remainders(y):
    grid = np.zeros((5, 5))
    for j in range(3, -1, -1):
        for i in range(3):
            grid[i % 2, j % 2] = y[i, j]
    return grid


def last_of_some(y):
    grid = np.zeros((5, 5))
    for i in range(3):
        for j in range(4):
            if y[i, j] > 3:
                grid[i % 2, (i + j) % 3] = y[i, j]
    return grid


@pytest.mark.parametrize("loop", [last_on_the_diagonal, last_at_remainders, last_of_some])
def test_the_last_writer_wins_in_several_dimensions(loop):
    check(loop, [np.arange(12.0).reshape(3, 4)], gradients=False, decisions={"lanes"})
