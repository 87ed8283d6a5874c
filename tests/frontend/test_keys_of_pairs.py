"""Dicts under tuples of integers that lie close together. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.frontend.oracle import check, outcome

from looplift import lift
from looplift.base.compare import difference

X = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
PAIRS = [(5, 2), (-1, 4), (0, 0), (3, 3), (6, 1)]


def read(x, table, pairs):
    out = []
    for a, b in pairs:
        out.append(x[a] * table[a, b])
    return torch.stack(out)


def asked(x, table, pairs):
    total = torch.zeros(4)
    for a in range(-2, 7):
        for b in range(5):
            if (a, b) in table:
                total = total + x[a] * table[a, b]
            elif (b, a) in table:
                total = total - x[b]
    return total


def with_default(x, table, pairs):
    total = torch.zeros(4)
    for a in range(-2, 8):
        for b in range(5):
            total = total + x[b] * table.get((a, b), 0.5)
    return total


def listed(x, table, pairs):
    total = torch.zeros(4)
    for a in range(-2, 8):
        for b in range(5):
            for u in table.get((a, b), []):
                total = total + x[u]
    return total


NUMBERS = {pair: 0.5 + k for k, pair in enumerate(PAIRS)}
TENSORS = {pair: torch.full((4,), 0.5 + k) for k, pair in enumerate(PAIRS)}
LISTS = {pair: list(range(k)) for k, pair in enumerate(PAIRS)}
TRIPLES = {(a, b, c): a + b - c for a in range(3) for b in range(2) for c in range(-1, 2) if a != b}


def of_three(x, table, pairs):
    total = 0
    for a in range(3):
        for b in range(3):
            for c in range(-2, 2):
                total += table.get((a, b, c), 100)
    return total


@pytest.mark.parametrize(
    ("function", "table"),
    [
        (read, NUMBERS), (read, TENSORS), (asked, NUMBERS), (asked, TENSORS), (with_default, NUMBERS),
        (listed, LISTS), (listed, {pair: [1, 2] for pair in PAIRS}), (of_three, TRIPLES),
    ],
)  # fmt: skip
def test_keys_of_several_integers(function, table):
    check(function, (X, table, PAIRS))


OTHERS = [
    NUMBERS, dict([*NUMBERS.items()][1:]), {**NUMBERS, (900, -900): 1.0}, {**NUMBERS, (1, 2, 3): 1.0},
    {**NUMBERS, (1.0, 2): 1.0}, {**NUMBERS, (True, 2): 1.0}, {**NUMBERS, 3: 1.0}, {**NUMBERS, (2**70, 1): 1.0}, TENSORS,
    {**TENSORS, (1, 1): torch.ones(4).double()}, {**TENSORS, (1, 1): torch.ones(1)}, {**NUMBERS, (1, 1): 2}, {},
    {(a, b): 1.5 for a in range(-1, 7) for b in range(5)}, {(0, 0): 1.0},
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [read, asked, with_default])
def test_what_they_hold_is_asked_at_every_call(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for table in [*OTHERS, *OTHERS[::-1]]:
        wanted, found = outcome(function, (X, table, PAIRS)), outcome(lifted, (X, table, PAIRS))
        assert not difference(found, wanted, magnitude=1.0), table
