"""Numbers added at places that repeat: those of the loop for any places, also from the end and outside."""

import pytest
import torch

from looplift import lift


def transitions(a, b, out):
    for x, y in zip(a, b):
        out[x, y] += 1
    return out


def weighted(a, b, w, out):
    for i in range(a.shape[0]):
        out[a[i], b[i]] += w[i]
    return out


def histogram(a, out):
    for x in a:
        out[x] += 2
    return out


def outcome(function, *args):
    args = tuple(arg.clone() for arg in args)
    try:
        return function(*args), args[-1]
    except Exception as error:
        return type(error), str(error), args[-1]


def same(got, wanted):
    return len(got) == len(wanted) and all(
        torch.equal(g, w) if isinstance(w, torch.Tensor) else g == w for g, w in zip(got, wanted, strict=True)
    )


PLACES = [
    ([0, 1, 1, 2], [3, 3, 3, 0]),
    ([-1, 1, 1, 2], [3, 3, 3, 0]),
    ([0, 1, 1, 2], [3, -1, 3, -4]),
    ([0, 1, 1, 3], [3, 3, 3, 0]),
    ([0, 1, 1, 0], [3, 5, 3, 0]),
    ([0, 1, 1, 0], [3, -5, 3, 0]),
    ([1], [2]),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.int16])
@pytest.mark.parametrize(("first", "second"), PLACES, ids=str)
def test_counts_are_those_of_the_loop(first, second, dtype):
    a, b, weights = torch.tensor(first), torch.tensor(second), torch.tensor([3, 5, 7, 2][: len(first)]).to(dtype)
    usual = torch.randint(0, 3, (60,))
    lifted = [lift(one, backend="torch", verify="off") for one in (transitions, weighted, histogram)]
    lifted[0](usual, usual, torch.zeros(3, 4, dtype=dtype))
    lifted[1](usual, usual, torch.ones(60, dtype=dtype), torch.zeros(3, 4, dtype=dtype))
    lifted[2](usual, torch.zeros(3, dtype=dtype))
    calls = [(a, b, torch.ones(3, 4, dtype=dtype)), (a, b, weights, torch.ones(3, 4, dtype=dtype)),
             (a, torch.ones(3, dtype=dtype))]  # fmt: skip
    for one, loop, args in zip(lifted, (transitions, weighted, histogram), calls, strict=True):
        assert same(outcome(one, *args), outcome(loop, *args))
    strided = torch.ones(4, 3, dtype=dtype).T
    assert same(outcome(lifted[0], a, b, strided), outcome(transitions, a, b, strided))


def label_overlaps(a, b, n, m):
    out = torch.zeros(n, m, dtype=torch.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            out[i - 1, j - 1] = ((a == i) & (b == j)).sum()
    return out


@pytest.mark.parametrize(("low", "high"), [(0, 4), (0, 5), (0, 9), (-3, 4), (1, 3), (7, 9)])
def test_pairs_of_labels_also_outside(low, high):
    a, b = torch.randint(low, high, (9, 8)), torch.randint(low, high, (9, 8))
    lifted = lift(label_overlaps, backend="torch")
    for x, y in ((a, b), (a[:1], b), (a[:0], b[:0])):
        assert torch.equal(lifted(x, y, 3, 4), label_overlaps(x, y, 3, 4))
    assert "label_table(" in lifted.source
