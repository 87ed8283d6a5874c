"""Lists that each iteration makes, of another length in each, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

NEAR = ([[], [0, 2], [1], [3, 3, 0], []], [[], [], [], [], []], [[0], [1], [2], [3], [4]])
LABELS = ([0, 2, 2, 0, 2], [5, 5, 5, 5, 5], [2, 1, 0, 1, 2])


def mean_of_neighbours(x, near):
    out = []
    for i in range(len(near)):
        if len(near[i]) == 0:
            message = torch.zeros(x.shape[1])
        else:
            message = torch.stack([x[j] * 2 for j in near[i]]).mean(dim=0)
        out.append(torch.relu(x[i] + message))
    return torch.stack(out)


def greatest_of_neighbours(x, near):
    out = []
    for i in range(len(near)):
        if near[i]:
            messages = []
            for j in near[i]:
                messages.append(torch.relu(x[j]))
            best, place = torch.stack(messages).max(dim=0)
            out.append(best * 2 + place + torch.stack(messages).min(0).values)
        else:
            out.append(x[i])
    return torch.stack(out)


def attention_over_neighbours(x, near):
    out = []
    for i in range(len(near)):
        if not near[i]:
            out.append(x[i])
            continue
        scores = [(x[i] * x[j]).sum() for j in near[i]]
        weights = torch.softmax(torch.stack(scores), dim=0)
        mixed = torch.zeros(x.shape[1])
        for k, j in enumerate(near[i]):
            mixed = mixed + weights[k] * x[j]
        out.append(mixed / len(scores))
    return torch.stack(out)


def read_once_more(x, near):
    out = torch.zeros(len(near), x.shape[1])
    for i in range(len(near)):
        messages = [x[j] * 2 for j in near[i]]
        for message in messages:
            out[i] = out[i] + message / len(messages)
        if messages:
            out[i] = out[i] + messages[0]
    return out


@pytest.mark.parametrize(
    "loop", [mean_of_neighbours, greatest_of_neighbours, attention_over_neighbours, read_once_more]
)
def test_lists_over_neighbours(loop):
    check(loop, *([torch.randn(5, 3), near] for near in NEAR))


def mean_of_class(x, labels):
    out = torch.zeros(3, x.shape[1])
    for c in range(3):
        members = [x[i] for i in range(len(x)) if labels[i] == c]
        if len(members) > 0:
            out[c] = torch.stack(members).mean(0) + len(members)
    return out


def greatest_of_class(x, labels):
    out = []
    for c in range(3):
        members = []
        for row, label in zip(x, labels):
            if label == c:
                members.append(row.exp())
        out.append(torch.stack(members).max(0)[0] if members else torch.zeros(x.shape[1]))
    return torch.stack(out)


@pytest.mark.parametrize("loop", [mean_of_class, greatest_of_class])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_lists_of_what_an_if_lets_in(loop, as_tensor):
    labels = [torch.tensor(one) if as_tensor else one for one in LABELS]
    check(loop, *([torch.randn(5, 3), one] for one in labels))


def test_nothing_cannot_be_stacked():
    def stacked(x, near):
        return torch.stack([torch.stack([x[j] for j in row]).sum(0) for row in near])

    check(stacked, [torch.randn(5, 3), NEAR[2]])
    for near in NEAR[:2]:
        with pytest.raises(RuntimeError, match="non-empty TensorList"):
            lift(stacked)(torch.randn(5, 3), near)


def test_the_length_while_the_list_grows():
    def counted(x, near):
        out = torch.zeros(len(near))
        for i in range(len(near)):
            items = []
            for j in near[i]:
                items.append(x[j])
                out[i] += len(items) * x[j]
        return out

    check(counted, *([torch.randn(5), near] for near in NEAR), decisions={"kept"})


def test_an_array_of_numbers():
    def spread(x, near):
        out = np.zeros(len(near))
        for i in range(len(near)):
            values = [x[j] * 2 for j in near[i]]
            out[i] = np.std(np.array(values)) if values else -1
        return out

    check(spread, *([np.random.rand(5), near] for near in NEAR))


def test_the_truth_of_a_list_that_is_as_long_in_each_iteration():
    def full(x):
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            row = [x[i, j] * 2 for j in range(x.shape[1])]
            if row:
                out[i] = torch.stack(row).sum()
            else:
                out[i] = -1
        return out

    check(full, [torch.randn(4, 3)], [torch.randn(1, 1)])
