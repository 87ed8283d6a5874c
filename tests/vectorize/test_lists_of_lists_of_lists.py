"""Lists of lists of lists: the neighbours of each node of each graph, the words of each sentence of each text."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def means_of_neighbours(x, near):
    out = []
    for rows, lists in zip(x, near):
        found = []
        for v in range(rows.shape[0]):
            messages = [rows[u] for u in lists[v]]
            found.append(torch.stack(messages).mean(0) if messages else torch.zeros_like(rows[v]))
        out.append(torch.stack(found).sum(0))
    return torch.stack(out)


def sums_by_number(x, near):
    out = []
    for b in range(len(near)):
        rows, total = x[b], torch.zeros(2)
        for v, row in enumerate(near[b]):
            for u in row:
                total = total + torch.sin(rows[v]) * rows[u]
        out.append(total)
    return torch.stack(out)


def two_rounds(x, near):
    out = []
    for rows, lists in zip(x, near):
        h = rows
        for _ in range(2):
            new = []
            for v, row in enumerate(lists):
                total = torch.zeros(2)
                for u in row:
                    total = total + h[u]
                new.append(torch.tanh(h[v] + total))
            h = torch.stack(new)
        out.append(h.amax(0))
    return torch.stack(out)


def items_of_items(x, near):
    """The places are counted from the end, too."""
    out = torch.zeros(len(near))
    for b in range(len(near)):
        for j in range(len(near[b])):
            if len(near[b][j]) > 0:
                out[b] += x[b][near[b][j][-1], 0] * len(near[b][j]) + near[b][-1][0]
    return out


def graphs(seed, sizes, *, least=0):
    generator = torch.Generator().manual_seed(seed)
    number = lambda low, high: int(torch.randint(low, high + 1, (), generator=generator))
    x = [torch.randn(n, 2, generator=generator) for n in sizes]
    near = [[[number(-n, n - 1) for _ in range(number(least, 3))] for _ in range(n)] for n in sizes]
    return [x, near]


@pytest.mark.parametrize("program", [means_of_neighbours, sums_by_number, two_rounds, items_of_items])
def test_lists(program):
    calls = [
        graphs(seed, sizes, least=int(program is items_of_items)) for seed, sizes in enumerate([(3, 1, 4), (2, 5)])
    ]
    decisions = {"lanes", "sequential"} if program is two_rounds else None
    check(program, *calls, gradients=program is not items_of_items, decisions=decisions)


def test_a_place_that_is_not_there_raises_as_in_the_loop():
    lifted = lift(means_of_neighbours, verify="off", backend="torch")
    x, near = graphs(0, (3, 1, 4))
    torch.testing.assert_close(lifted(x, near), means_of_neighbours(x, near))
    near[2][1] = [4]
    with pytest.raises(IndexError):
        lifted(x, near)
    with pytest.raises(IndexError):
        lifted(x, [*near[:2], near[2][:1]])
