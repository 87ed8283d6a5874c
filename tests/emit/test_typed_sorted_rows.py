"""``topk``, ``sort`` and ``argsort`` of rows in typed programs, with Python on the ranks: also with equal elements."""

import pytest
import torch
from tests.emit.test_typed_composed import row_program
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]

ROWS = (
    "torch.topk(x[k], 2).values.sum() * w", "x[k].topk(3)[0][1] + w", "x[k] * x[k].topk(1).indices[0]",
    "torch.topk(x[k], k=2, largest=False).values[1] * w", "x[k].topk(4, dim=0)[0] * w",
    "x[k].topk(2, -1, False)[0].sum() * w",
    "torch.sort(x[k]).values * w", "torch.sort(x[k], descending=True)[0] * w", "x[k].sort()[0] - w",
    "torch.sort(x[k], dim=0, descending=True, stable=True).values * w", "x[k][torch.argsort(x[k])] * w",
    "x[k][x[k].argsort(descending=True)] + w", "x[k].argsort() * w", "x[k].topk(3).indices.sort().values[1] * w",
)  # fmt: skip


@pytest.mark.parametrize(("asks", "dtype"), [(True, torch.float32), (False, torch.float64)])
@pytest.mark.parametrize("expression", ROWS)
def test_rows_in_order(expression, asks, dtype, first):
    x, w = ((lambda k=k, n=n: g(*n, seed=k).to(dtype).requires_grad_(asks)) for k, n in enumerate(((5, 4), (4,))))
    runs_as_program(row_program(expression), x, w)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("value", [-0.0, float("nan"), float("inf")])
@pytest.mark.parametrize("expression", [ROWS[0], ROWS[3], ROWS[7], ROWS[9], ROWS[10]])
def test_equal_elements_and_what_is_no_number(expression, value, asks, first):
    def x():
        found = g(5, 4)
        found[1, 0] = found[1, 3] = found[2, 1] = value
        found[3] = found[3, 0]
        found[4, 0], found[4, 2] = 0.0, -0.0
        return found.requires_grad_(asks)

    runs_as_program(row_program(expression), x, lambda: g(4), program=True if value == 0 else None)


def hits_of_users(scores, test, k):
    total = []
    for user in range(scores.shape[0]):
        ranked = torch.topk(scores[user], k).indices.tolist()
        relevant = set(test[user])
        total.append(sum(1 for item in ranked if item in relevant) / k)
    return total


def without_those_seen(scores, seen, k):
    total = 0.0
    for user in range(scores.shape[0]):
        row = scores[user].clone()
        for item in seen[user]:
            row[item] = -1e9
        _, ranked = torch.topk(row, k)
        total += sum(ranked.tolist()) / k
    return total


def reciprocal_ranks(scores, test, k):
    found = []
    for user in range(scores.shape[0]):
        order = torch.argsort(scores[user], descending=True).tolist()
        for rank, item in enumerate(order):
            if item in test[user]:
                found.append(1.0 / (rank + k))
                break
    return found


@pytest.mark.parametrize("backend", ("auto", "native"))
@pytest.mark.parametrize("function", [hits_of_users, without_those_seen, reciprocal_ranks])
def test_python_on_the_ranks(function, backend):
    lifted = lift(function, backend=backend)
    for seed in range(4):
        torch.manual_seed(seed)
        scores = torch.randn(12, 20 + seed)
        test = [torch.randperm(20)[: 1 + user % 5].tolist() for user in range(12)]
        assert lifted(scores, test, 4) == function(scores, test, 4)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}
    for _ in range(5):  # equal scores are no reason to run the loop
        scores = torch.randint(0, 3, (12, 20)).float()
        assert lifted(scores, test, 4) == function(scores, test, 4)
    # where a call of PyTorch for each row is slower than the loop, that may stay
    assert {loop.code for loop in lifted.report().loops} <= {"", "too-small"}


@pytest.mark.parametrize("k", [0, 21, -1])
def test_as_many_as_there_are_not(k):
    lifted, scores, test = lift(hits_of_users), torch.randn(12, 20), [[1, 2]] * 12
    lifted(scores, test, 3)
    with pytest.raises((RuntimeError, ZeroDivisionError)) as wanted:
        hits_of_users(scores, test, k)
    with pytest.raises(wanted.type):
        lifted(scores, test, k)


def test_of_integers_and_of_matrices(first):
    def of_integers(rows):
        found = {}
        for k, row in enumerate(rows):
            found[k] = row.sort().values, row.topk(2, largest=False).indices
        return found

    runs_as_program(of_integers, lambda: [g(9, seed=k).argsort() for k in range(4)])
    runs_as_program(of_integers, lambda: [torch.tensor([3, 3, 1])] * 2)
    many = lambda: [torch.arange(3000) % 7 * (-1) ** k for k in range(3)]
    runs_as_program(of_integers, many)

    def of_matrices(rows):
        found = {}
        for k, row in enumerate(rows):
            found[k] = row.sort(0).values, row.topk(2).indices
        return found

    runs_as_program(of_matrices, lambda: [g(3, 4), g(3, 4, seed=2)], program=None)
