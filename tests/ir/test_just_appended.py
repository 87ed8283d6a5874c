"""Reads of the last item of a list, in the iteration that appends it and in others: values are the loop's."""

import pytest
import torch

from looplift import lift


def compared(x, w):
    total, found, below = x.t() @ x, [], 0
    for t in range(len(x)):
        found.append(w @ total @ w)
        if x[t] @ w < found[-1]:
            below += 1
        total = 0.94 * total + 0.06 * torch.outer(x[t], x[t])
    return torch.stack(found), below


def carried(x, w):
    h, found = torch.zeros_like(w), []
    for t in range(len(x)):
        found.append(0.5 * h + x[t])
        h = torch.tanh(found[-1]) * w
    return torch.stack(found)


def in_a_branch(x, w):
    h, found = torch.zeros_like(w), []
    for t in range(len(x)):
        found.append(h + x[t])
        if x[t, 0] > 0.5:
            found.append(x[t] * 2)
        h = found[-1] * 0.5
    return torch.stack(found)


def in_a_loop(x, w):
    found = []
    for t in range(len(x)):
        found.append(x[t])
        for k in range(2):
            h = found[-1] * w
            found.append(h + k)
    return torch.stack(found)


def changed_in_place(x, w):
    found = []
    for t in range(len(x)):
        found.append(x[t] * 1.0)
        found[-1] += w
        found[-1][0] = 7.0
    return torch.stack(found)


def of_two_names(x, w):
    found = []
    other = found
    for t in range(len(x)):
        found.append(x[t])
        other.append(x[t] * w)
        w = w + found[-1]
    return torch.stack(other), w


def by_a_float(x, w):
    found = []
    for t in range(len(x)):
        found.append(x[t])
        w = w + found[-1.0]
    return w


def from_the_iteration_before(x, w):
    found = [x[0]]
    for t in range(1, len(x)):
        w = w + found[-1]
        found.append(w * x[t])
    return torch.stack(found), w


EVERY = [compared, carried, in_a_branch, in_a_loop, changed_in_place, of_two_names, by_a_float,
         from_the_iteration_before]  # fmt: skip


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_items_that_were_just_appended(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for seed in range(3):
        g = torch.Generator().manual_seed(seed)
        x, w = torch.rand(6 - 2 * seed, 4, generator=g), torch.rand(4, generator=g)
        outcomes = []
        for run in (function, lifted):
            try:
                outcomes.append(run(x.clone(), w.clone()))
            except TypeError as error:
                outcomes.append(str(error))
        torch.testing.assert_close(*outcomes[::-1]) if not isinstance(outcomes[0], str) else None
        assert not isinstance(outcomes[0], str) or outcomes[0] == outcomes[1]
    if function in (compared, carried):
        assert lifted.report().loops[0].decision != "kept"
