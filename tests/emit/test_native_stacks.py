"""Kernels that keep copies of arrays in lists, to stack them: where no array changes after a list takes it."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def double_buffers(u, n):
    frames = []
    a = u.copy()
    b = u.copy()
    for k in range(n):
        for i in range(1, 5):
            b[i] = 0.5 * a[i] + a[i - 1]
        a, b = b, a
        frames.append(a.copy())
    return np.array(frames)


def updated_in_place(u, n):
    frames = []
    for k in range(n):
        u = u * 2
        u += 1
        frames.append(u)
    return np.array(frames)


def perhaps_appended(u, n):
    frames = []
    for k in range(n):
        u = u * 1.1
        if k == 1:
            continue
        if u.sum() > 5:
            break
        frames.append(u)
    return np.array(frames), len(frames)


def several_lists(u, n):
    frames = []
    others = [u]
    for k in range(n):
        u = u * 1.1
        frames.append(u)
        others.append(u * 2)
        frames.append(u + 1)
    return np.stack(frames), np.array(others), u


def last_item(u, n):
    frames = [u.copy()]
    for k in range(n):
        v = frames[-1].copy()
        v[0] = k
        frames.append(v)
    return np.stack(frames)


def stacks_of_stacks(u, n):
    outer = []
    for e in range(3):
        frames = []
        for k in range(n):
            v = u.copy()
            v[0] = k
            u = v
            frames.append(v)
        outer.append(np.array(frames))
    return np.stack(outer)


def sums(x, n):
    frames = []
    while n > 0:
        n -= 1
        x = torch.sin(x) * 1.5
        x[0] = n
        frames.append(x.sum())
    return torch.stack(frames), x


def appended_twice(u, n):
    frames = []
    last = u.copy()
    while n > 0:
        n -= 1
        frames.append(last)
        last = last * 0.5
        frames.append(last)
    return np.stack(frames)


def filled_rows(u, n):
    frames = []
    for k in range(n):
        v = np.empty(6)
        for i in range(6):
            v[i] = u[i] * k
        frames.append(v)
        if k > 2:
            frames.append(v * 2)
    return np.array(frames)


def until_settled(u, n):
    frames = [u]
    while True:
        v = u.clone()
        v[1:-1] = 0.5 * u[1:-1] + 0.25 * (u[2:] + u[:-2])
        frames.append(v)
        if (v - u).abs().max() < 1e-2:
            break
        u = v
    return torch.stack(frames), len(frames)


def changed_before(u, n):
    frames = []
    while n > 0:
        n -= 1
        v = u.copy()
        if n % 2:
            v[0] = n
        for i in range(3):
            v[i] += i
        frames.append(v)
        if v[2] > 5:
            u = v
    return np.stack(frames), u


def stacked_twice(u, n):
    frames = []
    while n > 0:
        n -= 1
        v = u * n
        v[0] = 3
        frames.append(v)
    a = np.array(frames)
    b = np.array(frames)
    a[0] = 5
    for i in range(2):
        b[i, i] = 9
    return a, b


def of_floats(u, n):
    frames = [u]
    while n > 0:
        n -= 1
        v = np.empty_like(u)
        v[:] = u * 0.5 + n
        frames.append(v)
        u = v
    return np.array(frames)


def one_array(u, n):
    frames = []
    for k in range(n):
        u[0] = k
        frames.append(u)
    return np.array(frames)


def changed_after(u, n):
    frames = []
    for k in range(n):
        v = u.copy()
        frames.append(v)
        v[1] = k
    return np.array(frames)


def made_before(u, n):
    frames = []
    v = u.copy()
    for k in range(n):
        v[1] = k
        frames.append(v)
    return np.array(frames)


def views(u, n):
    frames = []
    for k in range(n):
        frames.append(u[1:-1])
        u[2] += k
    return np.array(frames)


def exchanged(u, n):
    frames = []
    a = u.copy()
    b = u.copy()
    for k in range(n):
        for i in range(1, 5):
            b[i] = 0.5 * a[i] + a[i - 1]
        a, b = b, a
        frames.append(a)
    return np.array(frames)


def carried_in_place(u, n):
    frames = []
    for k in range(n):
        u += 1
        frames.append(u)
    return np.array(frames)


def perhaps_another(u, n):
    frames = []
    for k in range(n):
        if k % 2:
            u = u * 2
        u += 1
        frames.append(u)
    return np.array(frames)


def handed_out(u, n):
    frames = []
    for k in range(n):
        v = u.copy()
        v[0] = k
        u = v
        frames.append(u)
    return frames, np.stack(frames)


def no_iteration(u, n):
    frames = []
    for k in range(n):
        v = u.copy()
        v[0] = k
        frames.append(v)
    return np.array(frames)


def other_lengths(u, n):
    frames = []
    for k in range(n):
        v = u[k:].copy()
        v[0] = k
        frames.append(v)
    return np.stack(frames)


def elements(x, n):
    frames = []
    while n > 0:
        n -= 1
        x[0] = n
        frames.append(x[0])
    return torch.stack(frames), x


def shared_memory(x, y, n):
    frames = []
    while n > 0:
        n -= 1
        frames.append(x)
        y[1] = n
    return torch.stack(frames)


def changed_by_a_helper(u, n):
    def bump(z):
        z[0] += 1

    frames = []
    while n > 0:
        n -= 1
        v = u.copy()
        frames.append(v)
        bump(v)
    return np.stack(frames)


def other_dtypes(u, n):
    frames = [np.zeros(6, dtype=np.float32)]
    for k in range(n):
        u = u * 0.5
        u[0] = k
        frames.append(u)
    return np.array(frames)


def changed_through_a_view(u, n):
    frames = []
    while n > 0:
        n -= 1
        v = u.copy()
        w = v.reshape(-1)
        frames.append(v)
        w[0] = n
    return np.stack(frames)


def changed_under_another_name(u, n):
    frames = []
    while n > 0:
        n -= 1
        v = u.copy()
        frames.append(v)
        u = v
        u[0] = n
    return np.stack(frames), u


def changed_in_the_next_iteration(u, n):
    frames = []
    v = u.copy()
    while n > 0:
        n -= 1
        v[0] = n
        v = v * 0.5
        frames.append(v)
    return np.stack(frames), v


def best_of_all(u, n):
    frames = []
    best = u.copy()
    while n > 0:
        n -= 1
        v = u * n
        if v.sum() > best.sum():
            best = v
        best[0] = -n
        frames.append(best)
    return np.stack(frames), best


def rows_of_a_matrix(u, n):
    M = np.outer(u, u)
    frames = []
    for k in range(n):
        frames.append(M[k])
        for i in range(6):
            M[k, i] = 0.0
    return np.stack(frames), M


def beyond(u, n):
    M = np.outer(u, u)
    frames = []
    k = 0
    while k < n + 3:
        frames.append(M[k])
        k += 1
    return np.stack(frames)


def running_sum(u, n):
    frames = []
    t = torch.zeros((), dtype=torch.float64)
    while n > 0:
        n -= 1
        t += u[n]
        frames.append(t)
    return torch.stack(frames)


def orthogonal(vs):
    basis = []
    for v in vs:
        w = v.clone()
        for b in basis:
            w = w - torch.dot(w, b) * b
        basis.append(w / w.norm())
    return torch.stack(basis)


def orthogonal_arrays(vs):
    basis = []
    for v in vs:
        w = v.copy()
        for j in range(len(basis)):
            w -= np.dot(w, basis[j]) * basis[j]
        basis.append(w / np.linalg.norm(w))
    return np.array(basis)


def summed_items(u, n):
    frames = [u.copy()]
    for k in range(n):
        b = frames[-1]
        v = b * 2
        v[0] = k
        frames.append(v)
    s = 0.0
    for x in frames:
        s += x.sum()
    return s


def held_while_it_grows(u, n):
    frames = [u.copy()]
    t = 0.0
    for k in range(n):
        b = frames[-1]
        part = b[1:]
        frames.append(b * 2)
        frames.append(b * 3)
        t += part.sum() + b.sum() + frames[-2][0] + frames[k].sum()
    return np.stack(frames), t


def recurrence(x, n):
    frames = [x[0] * 1]
    for k in range(1, n):
        frames.append(x[k] + 0.5 * frames[-1] + 0.1 * frames[k // 2])
    return torch.stack(frames)


def items_by_place(u, n):
    frames = [u.copy()]
    for k in range(n):
        v = frames[-1] * 0.5
        v[k] = 1
        frames.append(v)
    t = 0.0
    for i, b in enumerate(frames):
        t += i * b[0]
    for i in range(1, len(frames)):
        t += (frames[i] - frames[i - 1]).sum() * frames[-i][0]
    return np.stack(frames), t


def items_in_other_lists(u, n):
    frames = [u.copy()]
    others = []
    M = np.zeros((n, 6))
    for k in range(n):
        v = frames[-1] + k
        M[k] = frames[0]
        others.append(frames[-1])
        frames.append(v)
    return np.stack(frames), np.stack(others), M


def best_item(u, n):
    frames = [u]
    best = u
    for k in range(n):
        v = frames[-1] * u[k] + 0.3
        frames.append(v)
        if v.sum() > best.sum():
            best = frames[-1]
    return np.stack(frames), best


def of_numbers(x, n):
    frames = []
    k = 0
    while k < n:
        s = 0
        for j in range(k):
            s = s + 0.5 * frames[j]
        frames.append(s + k)
        k += 1
    return frames


def substituted(A, b):
    x = []
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s = s - A[i, j] * x[j]
        x.append(s / A[i, i])
    return torch.stack(x)


def item_changed(u, n):
    frames = [u.copy()]
    for k in range(n):
        b = frames[-1]
        b[0] = k
        frames.append(b * 2)
    return np.stack(frames)


def items_handed_out(u, n):
    frames = [u.copy()]
    for k in range(n):
        b = frames[-1]
        v = b * 2
        v[0] = k
        frames.append(v)
    return np.stack(frames), frames[-1], frames[0]


def beyond_the_end(x, n):
    frames = [x[0] * 1]
    for k in range(1, n):
        frames.append(x[k] + frames[k + 1])
    return torch.stack(frames)


def number_changed(x, n):
    frames = [x[0] * 1]
    for k in range(1, n):
        t = frames[-1]
        t += 1
        frames.append(t * x[k])
    return torch.stack(frames)


def list_handed_out(u, n):
    frames = [u]
    for k in range(n):
        frames.append(frames[-1] * u[k])
    return np.stack(frames), frames


def given_item(u, n):
    frames = [u]
    for k in range(n):
        frames.append(frames[-1] * u[k])
    return frames[0]


def told_apart(u, n):
    frames = [u]
    c = 0
    for k in range(n):
        v = frames[-1] * u[k] + 0.3
        frames.append(v)
        if frames[-1] is v:
            c += 1
        if frames[0] is u:
            c += 1
    return np.stack(frames), c


def shortened(u, n):
    frames = [u]
    for k in range(n):
        frames.append(frames[-1] * u[k] + 0.3)
        if k == 2:
            frames.pop()
    return np.stack(frames)


def item_replaced(u, n):
    frames = [u]
    for k in range(n):
        frames.append(frames[-1] * u[k] + 0.3)
        frames[0] = frames[-1]
    return np.stack(frames)


def part_of_given_item(u, n):
    frames = [u]
    for k in range(n):
        frames.append(frames[-1] * u[k])
    w = frames[0]
    w = w[1:]
    return w


def numbers(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64)


ROW = numbers(5)
SHARED = (ROW, ROW, 4)
LIFTED = [
    (double_buffers, *(numbers(6).numpy(), 5)),
    (updated_in_place, *(numbers(6).numpy(), 5)),
    (perhaps_appended, *(numbers(6).numpy(), 5)),
    (several_lists, *(numbers(6).numpy(), 5)),
    (last_item, *(numbers(6).numpy(), 5)),
    (stacks_of_stacks, *(numbers(6).numpy(), 5)),
    (sums, *(numbers(6), 5)),
    (appended_twice, *(numbers(6).numpy(), 5)),
    (filled_rows, *(numbers(6).numpy(), 5)),
    (until_settled, *(numbers(9), 5)),
    (changed_before, *(numbers(6).numpy(), 5)),
    (stacked_twice, *(numbers(6).numpy(), 5)),
    (of_floats, *(numbers(5).numpy().astype(np.float32), 4)),
    (until_settled, numbers(9), 5),
    (orthogonal, *(numbers(8, 12),)),
    (orthogonal_arrays, *(numbers(8, 12).numpy(),)),
    (summed_items, *(numbers(6).numpy(), 5)),
    (held_while_it_grows, *(numbers(6).numpy(), 5)),
    (recurrence, *(numbers(6), 5)),
    (items_by_place, *(numbers(6).numpy(), 5)),
    (items_in_other_lists, *(numbers(6).numpy(), 5)),
    (best_item, *(numbers(6).numpy(), 5)),
    (of_numbers, *(numbers(6), 5)),
    (substituted, *(numbers(8, 8) + 2, numbers(8))),
]  # fmt: skip


@pytest.mark.parametrize("case", LIFTED, ids=lambda case: case[0].__name__)
def test_stacked_lists_in_kernels(case):
    function, *values = case
    lifted = lift(function, verify="off", backend="native")
    for _ in range(2):
        wanted, found = copy.deepcopy(values), copy.deepcopy(values)
        why = difference(lifted(*found), function(*wanted), magnitude=1.0) or difference(found, wanted, magnitude=1.0)
        assert not why, f"{why}\n{lifted.source}"
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


OTHERS = [
    (one_array, *(numbers(6).numpy(), 5)),
    (changed_after, *(numbers(6).numpy(), 5)),
    (made_before, *(numbers(6).numpy(), 5)),
    (views, *(numbers(6).numpy(), 5)),
    (exchanged, *(numbers(6).numpy(), 5)),
    (carried_in_place, *(numbers(6).numpy(), 5)),
    (perhaps_another, *(numbers(6).numpy(), 5)),
    (handed_out, *(numbers(6).numpy(), 5)),
    (no_iteration, *(numbers(6).numpy(), 0)),
    (other_lengths, *(numbers(6).numpy(), 5)),
    (elements, *(numbers(6), 5)),
    (shared_memory, *SHARED),
    (changed_by_a_helper, *(numbers(6).numpy(), 5)),
    (other_dtypes, *(numbers(6).numpy(), 5)),
    (changed_through_a_view, *(numbers(6).numpy(), 5)),
    (changed_under_another_name, *(numbers(6).numpy(), 5)),
    (changed_in_the_next_iteration, *(numbers(6).numpy(), 5)),
    (best_of_all, *(numbers(6).numpy(), 5)),
    (rows_of_a_matrix, *(numbers(6).numpy(), 5)),
    (beyond, *(numbers(6).numpy(), 5)),
    (running_sum, *(numbers(6), 5)),
    (until_settled, numbers(9, 2).T, 5),
    (item_changed, *(numbers(6).numpy(), 5)),
    (items_handed_out, *(numbers(6).numpy(), 5)),
    (beyond_the_end, *(numbers(6), 5)),
    (number_changed, *(numbers(6), 5)),
    (list_handed_out, *(numbers(6).numpy(), 5)),
    (given_item, *(numbers(6).numpy(), 5)),
    (told_apart, *(numbers(6).numpy(), 5)),
    (shortened, *(numbers(6).numpy(), 5)),
    (item_replaced, *(numbers(6).numpy(), 5)),
    (part_of_given_item, *(numbers(6).numpy(), 5)),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case[0].__name__)
def test_lists_of_arrays_that_change_are_as_in_the_loop(case, backend):
    function, *values = case
    lifted = lift(function, verify="off", backend=backend)
    wanted, found = copy.deepcopy(values), copy.deepcopy(values)
    try:
        expected = function(*wanted)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            lifted(*found)
        assert str(raised.value) == str(error)
    else:
        assert not difference(lifted(*found), expected, magnitude=1.0)
    assert not difference(found, wanted, magnitude=1.0)


@pytest.mark.parametrize("function", [given_item, part_of_given_item], ids=lambda one: one.__name__)
def test_items_that_are_handed_out_are_the_callers_own(function):
    x = numbers(6).numpy()
    assert np.shares_memory(lift(function, verify="off", backend="native")(x, 5), x)
