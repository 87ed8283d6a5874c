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
