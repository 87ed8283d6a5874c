"""Stacks of stacks are written once, and are what the loop's are."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def rotations(angles):
    out = []
    for a in angles:
        c, s = torch.cos(a), torch.sin(a)
        out.append(torch.stack([torch.stack([c, -s]), torch.stack([s, c])]))
    return torch.stack(out)


def columns(angles):
    out = []
    for a in angles:
        out.append(torch.stack([torch.stack([a, a + 1, a * a]), torch.stack([a, a, a])], dim=1))
    return torch.stack(out)


def rows_of_rows(angles):
    out = torch.zeros(len(angles), 2, 2, 3)
    for k in range(len(angles)):
        v = torch.stack([angles[k], angles[k] * 2, angles[k] * 3])
        out[k] = torch.stack([torch.stack([v, v + 1]), torch.stack([v * v, v])])
    return out


@pytest.mark.parametrize("function", [rotations, columns, rows_of_rows], ids=lambda f: f.__name__)
def test_stacks_of_stacks(function):
    check(function, [torch.randn(5)], [torch.randn(1)])


def test_one_stack_is_written():
    lifted = lift(rotations, verify="off", backend="torch")
    lifted(torch.randn(4))
    assert lifted.source.count("torch.stack(") == 1


def grown(x):
    rows = torch.tensor([])
    for i in range(x.shape[0]):
        rows = torch.cat((rows, torch.diag(x[i])), dim=0)
    return rows


def grown_of_vectors(x):
    rows = torch.tensor([])
    for i in range(x.shape[0]):
        rows = torch.cat([rows, 2 * x[i]])
    return rows


def test_nothing_is_joined_to_an_empty_tensor():
    for function in (grown, grown_of_vectors):
        check(function, [torch.randn(4, 3)], [torch.randn(2, 1)])
        check(function, [torch.randn(4, 3, dtype=torch.float64)])  # the result has the wider type
        lifted = lift(function, verify="off", backend="torch")
        lifted(torch.randn(4, 3))
        assert "torch.cat" not in lifted.source


def means_of_groups(x, labels, count):
    out = torch.zeros(count, x.shape[1])
    for c in range(count):
        mask = labels == c
        if mask.sum() > 0:
            out[c] = x[mask].mean(0)
    return out


def test_many_groups_are_no_matrix_of_masks():
    """The estimate of memory knows that the members of all groups are as many as there are labels."""
    lifted = lift(means_of_groups, verify="off", backend="torch")
    for count, size in ((3, 9), (4000, 10000)):
        x, labels = torch.randn(size, 4, requires_grad=True), torch.randint(0, count, (size,))
        torch.testing.assert_close(lifted(x, labels, count), means_of_groups(x, labels, count))
        assert "for start in range" not in lifted.source
        wanted, given = (
            torch.autograd.grad(one(x, labels, count).square().sum(), x) for one in (means_of_groups, lifted)
        )
        torch.testing.assert_close(given, wanted)
