"""Two columns of lists, in a list of lists of records: each one is read, not the other."""

import pytest
import torch

from looplift import lift

RECORDS = [
    [([1.0, 2.0], [3.0, 4.0]), ([5.0, 6.0, 7.0], [8.0, 9.0, 1.0])],
    [([2.0], [4.0])],
    [([3.0, 1.0], [9.0, 7.0]), ([0.5], [0.25]), ([1.0, 1.0, 2.0], [4.0, 5.0, 6.0])],
]
NAMED = [[{"first": a, "second": b} for a, b in row] for row in RECORDS]
OF_TWO_LENGTHS = [[(a, [*b, 10.0]) for a, b in row] for row in RECORDS]


def products(records):
    out = torch.zeros(len(records))
    for i in range(len(records)):
        for k in range(len(records[i])):
            for m in range(len(records[i][k][0])):
                out[i] += records[i][k][0][m] * records[i][k][1][m]
    return out


def by_name(records):
    out = torch.zeros(len(records))
    for i in range(len(records)):
        for k in range(len(records[i])):
            for m in range(len(records[i][k]["second"])):
                out[i] += records[i][k]["second"][m] - 10 * records[i][k]["first"][m]
    return out


def lengths_and_ends(records):
    out = torch.zeros(len(records), 2)
    for i, row in enumerate(records):
        for k in range(len(row)):
            out[i, 0] += len(row[k][0]) + 100 * len(row[k][1])
            out[i, 1] += row[k][1][-1] - row[k][0][0]
    return out


def in_turns(records):
    out = torch.zeros(len(records))
    for i in range(len(records)):
        for k in range(len(records[i])):
            for value in records[i][k][1]:
                out[i] += value * value
            for value in records[i][k][0]:
                out[i] -= value
    return out


def weighted(records, w):
    out = torch.zeros(len(records))
    for i in range(len(records)):
        for k in range(len(records[i])):
            for m in range(len(records[i][k][0])):
                out[i] = out[i] + records[i][k][0][m] * w[i] + records[i][k][1][m] * w[0]
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(
    ("function", "records"),
    [
        (products, RECORDS), (by_name, NAMED), (lengths_and_ends, OF_TWO_LENGTHS), (in_turns, OF_TWO_LENGTHS),
        (lengths_and_ends, RECORDS), (products, OF_TWO_LENGTHS),
    ],
)  # fmt: skip
def test_each_column_is_read(function, records, backend):
    lifted = lift(function, backend=backend, verify="off")
    for given in (records, records[::-1], records[:2]):
        torch.testing.assert_close(lifted(given), function(given))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_each_column_has_its_gradient(backend):
    lifted = lift(weighted, backend=backend, verify="off")
    given = [torch.tensor([0.5, -1.0, 2.0]).requires_grad_() for _ in range(2)]
    want, got = weighted(RECORDS, given[0]), lifted(RECORDS, given[1])
    torch.testing.assert_close(got, want)
    for one in (want, got):
        (one * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    torch.testing.assert_close(given[1].grad, given[0].grad)
