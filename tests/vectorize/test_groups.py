"""Subscripts by masks that differ by iteration, and groups of equal labels."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

LABELS = torch.tensor([0, 3, 1, 0, 3, -1, 7, 1])


def prototypes(samples, labels, count):
    means = torch.zeros(count, samples.shape[1])
    for c in range(count):
        mask = labels == c
        if mask.sum() > 0:
            means[c] = samples[mask].mean(dim=0)
    return means


def sums(samples, labels, count):
    return torch.stack([samples[labels == c].sum(0) for c in range(count)])


def sums_of_the_next(samples, labels, count):
    return torch.stack([samples[labels == c + 1].sum(0) for c in range(1, count)])


def squares(samples, labels, count):
    return torch.stack([(samples[labels == c] ** 2).sum(0) for c in range(count)])


def totals(samples, labels, count):
    column = samples[:, 0]
    return torch.stack([column[labels == c].sum() for c in range(count)])


def weighted(samples, labels, count):
    out = torch.zeros(count, samples.shape[1])
    for c in range(count):
        rows = samples[labels == c]
        out[c] = rows.sum(0) * c + (rows - 1).sum(0)
    return out


def sizes(samples, labels, count):
    return torch.stack([(labels == c).sum() for c in range(1, count)])


def grouped(samples, labels, count):
    return torch.cat([samples[c == labels] * 2 for c in range(count)])


def test_groups_of_equal_labels():
    for loop in (prototypes, sums, sums_of_the_next, squares, totals, weighted, sizes, grouped):
        check(loop, [torch.randn(8, 3), LABELS, 4], [torch.randn(8, 3), LABELS, 9])
    check(sums, [torch.randn(0, 3), LABELS[:0], 4], [torch.randn(1, 3), LABELS[:1], 2])


def test_a_sum_of_groups_adds_rows_where_their_labels_say():
    values = torch.tensor([[1.0], [float("inf")], [2.0]]), torch.tensor([0, 5, 0]), 3
    check(sums, list(values))
    labels_of_others = torch.randn(8, 3), LABELS[:5], 4
    with pytest.raises(IndexError):
        lift(sums, backend="torch")(*labels_of_others)


def test_groups_need_no_mask_of_all_labels():
    for loop, spelled in (
        (prototypes, "label_sums(samples, labels, 0, count)"), (squares, "label_members(labels, 0, count)")
    ):  # fmt: skip
        lifted = lift(loop, backend="torch")
        lifted(torch.randn(8, 3), LABELS, 4)
        assert spelled in lifted.source
        assert "==" not in lifted.source.split(f"def {loop.__name__}")[1]


def test_masks_of_each_iteration():
    def picked(x, masks):
        return torch.stack([x[masks[i]].sum() for i in range(masks.shape[0])])

    def above(x, limits):
        return torch.stack([x[x > limits[i]].prod() for i in range(limits.shape[0])])

    masks = torch.rand(3, 5, generator=torch.Generator().manual_seed(0)) > 0.5
    check(picked, [torch.randn(5), masks], [torch.randn(5), torch.zeros(2, 5, dtype=torch.bool)])
    check(above, [torch.randn(5), torch.tensor([0.0, 9.0, -9.0])])


def test_values_of_two_loops_meet_the_members_of_one():
    def gathered(x, groups, labels):
        out = torch.zeros(groups, x.shape[0], dtype=x.dtype)
        for i in range(groups):
            for j in range(x.shape[0]):
                own = labels == i
                if j >= i:
                    out[i, j] = ((x[own].sum(0) + x[j]) * x[own]).sum()
        return out

    check(
        gathered,
        [torch.rand(3, 2).double(), 3, torch.tensor([0, 0, 2])],
        [torch.rand(4, 2).double(), 2, torch.tensor([0, 0, 1, 1])],
    )


def added_to_some_groups(x, y, labels):
    out = x * 1
    for i in range(len(y)):
        if y[i] < 0.5:
            out[labels == i] += y[i]
    return out


def set_in_some_groups(x, y, labels):
    out = x * 1
    for i in range(len(y)):
        if y[i] < 0.5:
            out[labels == i] = y[i] * 2
    return out


def sums_of_some_groups(x, y, labels):
    total = torch.zeros(())
    for i in range(len(y)):
        if y[i] < 0.5:
            total = total + x[labels == i].sum()
    return total


@pytest.mark.parametrize("program", [added_to_some_groups, set_in_some_groups, sums_of_some_groups])
def test_groups_of_iterations_that_a_condition_leaves_out_stay_as_they_are(program):
    calls = []
    for seed, (n, m) in enumerate([(5, 4), (6, 3), (1, 1), (8, 9)]):
        generator = torch.Generator().manual_seed(seed)
        labels = torch.randint(0, m + 1, (n,), generator=generator) - 1
        calls.append([torch.randn(n, generator=generator), torch.rand(m, generator=generator), labels])
    check(program, *calls)


def mean_of_listed(x, labels, n):
    out = torch.zeros(n, x.shape[1])
    for i in range(n):
        near = [x[k] for k in range(len(labels)) if labels[k] == i]
        if len(near) > 0:
            out[i] = torch.stack(near).mean(0)
    return out


def sums_of_pairs(x, pairs):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        near = [x[s] for s, t in pairs if t == i]
        if near:
            out[i] = torch.stack(near).sum(0)
    return out


@pytest.mark.parametrize("asks", [False, True])
def test_labels_in_lists_are_sorted_not_compared_with_each_place(asks):
    x = torch.linspace(-1, 1, 12).view(6, 2)
    for function, calls in (
        (mean_of_listed, [([0, 2, 2, 1, 0, 5], 4), ([-1, 7, 2, 2, 2, 2], 3), ([3, 3, 3, 3, 3, 3], 1), ([0] * 6, 0)]),
        (sums_of_pairs, [([(0, 1), (1, 0), (5, 1), (2, 9)],), ([(0, 0)],), ([(0, -1), (3, 5), (3, 5)],)]),
    ):
        lifted: Any = lift(function, verify="off", backend="torch")
        for call in calls:
            first, other = (x.clone().requires_grad_(asks) for _ in range(2))
            wanted, found = function(first, *call), lifted(other, *call)
            torch.testing.assert_close(found, wanted)
            if wanted.requires_grad:
                weights = torch.linspace(1, 2, wanted.numel()).view_as(wanted)
                gradients = [torch.autograd.grad((y * weights).sum(), z) for y, z in ((found, other), (wanted, first))]
                torch.testing.assert_close(*gradients)
        assert "label_members(" in lifted.source, lifted.source
