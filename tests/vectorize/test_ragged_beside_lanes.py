"""Stores into slices of another length in each row, inside of loops that the slices do not move with."""

import pytest
import torch
from tests.vectorize.harness import check


def last(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            out[b, t, :n] = torch.softmax(x[b, t, :n], 0)
    return out


def turned(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            out[t, b, :n] = x[b, t, :n] * 2
    return out


def across(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            out[b, :n, t] = x[b, t, :n] + t
    return out


def shifted(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            out[b, t, 1 : n + 1] = x[b, t, :n] - 1
    return out


def of_another_loop(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            for u in range(2):
                out[u, b, t, :n] = x[b, t, :n] * (u + 1)
    return out


def of_fewer(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(1, x.shape[1]):
            out[b, t, :n] = x[b, t - 1, :n]
    return out


def the_same_in_each(x, lengths, out):
    for t in range(x.shape[1]):
        for b in range(x.shape[0]):
            n = int(lengths[b])
            out[t, b, :n] = x[b, 0, :n]
    return out


def at_times(x, lengths, out):
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            if x[b, t, 0] > 0:
                out[b, t, :n] = x[b, t, :n] * 2
    return out


def arguments(function, b, t, width, lengths, gradients=True):
    size = {turned: (t, b, width), the_same_in_each: (t, b, width), across: (b, width, t)}.get(function, (b, t, width))
    size = (2, *size) if function is of_another_loop else size
    return [torch.randn(b, t, width), torch.tensor(lengths), torch.zeros(size)]


FUNCTIONS = (last, turned, across, shifted, of_another_loop, of_fewer, the_same_in_each)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_stores_keep_the_dimensions_of_other_loops(function):
    torch.manual_seed(0)
    calls = [(3, 4, 6, [2, 5, 1]), (2, 1, 4, [3, 3]), (1, 3, 5, [4]), (2, 3, 4, [1, 1])]
    check(function, *(arguments(function, *call) for call in calls), gradients=False)


def made(x, lengths):
    out = torch.zeros(x.shape[0], x.shape[1] + 1, x.shape[2])
    for b in range(x.shape[0]):
        n = int(lengths[b])
        for t in range(x.shape[1]):
            out[b, t, :n] = torch.softmax(x[b, t, :n], 0)
    return out


def test_gradients_and_a_dimension_that_is_longer_than_the_loop():
    check(made, [torch.randn(3, 4, 6), torch.tensor([2, 5, 1])], [torch.randn(2, 1, 3), torch.tensor([1, 3])])


@pytest.mark.parametrize("function", (*FUNCTIONS, at_times), ids=lambda function: function.__name__)
def test_lengths_that_are_no_lengths(function):
    from looplift import lift

    lifted = lift(function, verify="off", backend="torch")
    for lengths in ([2, 3], [0, 2], [-1, 2], [9, 2]):
        outcomes = []
        for run in (function, lifted, lifted):
            torch.manual_seed(0)
            given = arguments(function, 2, 3, 5, lengths)
            try:
                outcomes.append(("", run(*given)))
            except (RuntimeError, IndexError) as error:
                outcomes.append((str(error), given[2]))
        for text, out in outcomes[1:]:
            assert text == outcomes[0][0]
            torch.testing.assert_close(out, outcomes[0][1])
