"""Reads of arrays of zeros, and means of groups: the loop's values and gradients, without what they do not need."""

import pytest
import torch

from looplift import lift


def class_means(x, labels, classes):
    means = torch.zeros(classes, x.shape[1])
    for c in range(classes):
        mask = labels == c
        if mask.sum() > 0:
            means[c] = x[mask].mean(dim=0)
    return means


def means_beside_ones(x, labels, classes):
    means = torch.ones(classes, x.shape[1])
    for c in range(classes):
        mask = labels == c
        if mask.sum() > 0:
            means[c] = x[mask].mean(dim=0)
    return means


def means_of_one_column(x, labels, classes):
    x = x[:, :1]
    means = torch.zeros(classes, 3)
    for c in range(classes):
        mask = labels == c
        if mask.sum() > 0:
            means[c] = x[mask].mean(dim=0)
    return means


def sums_from(x, labels, classes):
    sums = []
    for c in range(-2, classes):
        sums.append(x[labels == c].sum(0))
    return torch.stack(sums)


def then_labels_change(x, labels, classes):
    means = torch.zeros(classes, x.shape[1])
    for c in range(classes):
        means[c] = x[labels == c].sum(dim=0)
    labels.add_(1)
    return means


LABELS = {
    "inside": [0, 3, 3, 1, 0, 3],
    "outside": [-1, 3, 9, 1, 0, -7],
    "far": [2**62, -(2**63), 0, 1, 2**63 - 1, 3],
    "none": [9, 9, 9, 9, 9, 9],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize(
    "function", [class_means, means_beside_ones, means_of_one_column, sums_from, then_labels_change]
)
def test_groups_are_the_loops(function, labels):
    lifted = lift(function, verify="off")
    rows = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    for gradients in (False, True):
        found = []
        for run in (function, lifted):
            x, own = rows.clone().requires_grad_(gradients), torch.tensor(labels)
            result = run(x, own, 4)
            if result.requires_grad:
                (result * torch.arange(result.numel()).view(result.shape)).sum().backward()
            found.append((result.detach(), result.requires_grad, x.grad, own))
        (want, *others), (got, *mine) = found
        torch.testing.assert_close(got, want)
        assert mine[0] == others[0]
        torch.testing.assert_close(mine[1:], others[1:])


def test_means_of_groups_need_no_choice():
    lifted = lift(class_means, verify="off", backend="torch")
    lifted(torch.randn(6, 2), torch.tensor([0, 3, 3, 1, 0, 3]), 5)
    assert "torch.where" not in lifted.source.rpartition("def class_means")[2]


def filled_where_less(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if 1.0 > out[i]:
            out[i] = 1.0
    return out


def counted_up(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = out[i] + 1
    return out


def multiplied(x):
    ones, product = torch.ones(len(x)), 1.0
    for i in range(len(x)):
        product = product * (ones[i] + 1)
    return product


def added(x):
    ones, total = torch.ones(x.shape), 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total += ones[i, j] * 2
    return total


def stacked(x):
    ones, rows = torch.ones(len(x)), []
    for i in range(len(x)):
        rows.append(ones[i] * 2)
    return torch.stack(rows)


def unmarked(x):
    marked, count = torch.zeros(len(x), dtype=torch.bool), 0
    for i in range(len(x)):
        if not marked[i]:
            count += 1
    return count


def listed(x):
    return [torch.zeros(len(x), dtype=torch.int64)[i].item() for i in range(len(x))]


def beside_a_row(x):
    zeros, out = torch.zeros(x.shape), torch.ones(x.shape)
    for i in range(len(x)):
        out[i] = x[i] if x[i].sum() > 0 else zeros[i]
    return out


def beside_a_wider_type(x):
    ones, out = torch.ones(len(x), dtype=torch.float64), torch.zeros(len(x), dtype=torch.float64)
    for i in range(len(x)):
        out[i] = x[i, 0] + ones[i] / 3
    return out


@pytest.mark.parametrize(
    "program",
    [filled_where_less, counted_up, multiplied, added, stacked, unmarked, listed, beside_a_row, beside_a_wider_type],
)
def test_what_is_the_same_in_all_lanes_is_there_for_each(program):
    lifted = lift(program, verify="off", backend="torch")
    for shape in ((4, 3), (1, 3), (5, 1)):
        x = torch.randn(shape)
        got, wanted = lifted(x), program(x)
        assert type(got) is type(wanted)
        if isinstance(wanted, torch.Tensor):
            torch.testing.assert_close(got, wanted)
        else:
            assert got == wanted


def filled_then_looked_up(x, places):
    w = torch.zeros(len(x))
    for j in range(len(x)):
        w[j] = 0.25
    out = torch.zeros(len(places))
    for i in range(len(places)):
        out[i] = w[places[i]] * x[i]
    return out


def looked_up_in_ones(x, places):
    w, out = torch.ones(len(x)), torch.zeros(len(places))
    for i in range(len(places)):
        out[i] = w[places[i]] * x[i]
    return out


@pytest.mark.parametrize("function", [filled_then_looked_up, looked_up_in_ones])
def test_places_outside_of_an_array_of_one_number_raise(function):
    lifted = lift(function, verify="off", backend="torch")
    x = torch.randn(4)
    for _ in range(2):
        torch.testing.assert_close(lifted(x, [0, 3, -4]), function(x, [0, 3, -4]))
        with pytest.raises(IndexError):
            lifted(x, [0, 99])


def filled_with_too_much(x):
    w = torch.zeros(len(x))
    for j in range(len(x)):
        w[j] = 1e300
    out = torch.zeros(len(x), dtype=torch.float64)
    for j in range(len(x)):
        out[j] = w[j] + x[j]
    return out


def test_numbers_that_the_array_cannot_hold_raise():
    lifted = lift(filled_with_too_much, verify="off", backend="torch")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="overflow"):
            lifted(torch.randn(4))


def begun_with_zero(A, p):
    q = torch.zeros(A.shape[0])
    for i in range(A.shape[0]):
        q[i] = 0.0
        for j in range(A.shape[1]):
            q[i] = q[i] + A[i][j] * p[j]
    return q


def begun_with_minus_zero(A, p):
    q = torch.zeros(A.shape[0])
    for i in range(A.shape[0]):
        q[i] = -0.0
        for j in range(A.shape[1]):
            q[i] += A[i, j] * p[j]
    return q


@pytest.mark.parametrize("function", [begun_with_zero, begun_with_minus_zero])
@pytest.mark.parametrize("shape", [(4, 3), (1, 1), (3, 0), (0, 3)])
def test_sums_that_begin_with_zero_are_products(function, shape):
    lifted = lift(function, verify="off", backend="torch")
    A, p = torch.randn(shape), torch.randn(shape[1])
    for _ in range(2):
        torch.testing.assert_close(lifted(A, p), function(A, p))
    if all(shape) and function is begun_with_zero:
        assert "A @ p" in lifted.source
