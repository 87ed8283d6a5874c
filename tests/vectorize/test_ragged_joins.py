"""Values of another length in each iteration that are put side by side, and arrays that were written to before."""

import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def beside_sums(x, w, edges):
    out = []
    for rows, pairs in zip(x, edges):
        sums = torch.zeros_like(rows)
        for s, t in pairs:
            sums[t] = sums[t] + rows[s]
        out.append((torch.cat([rows, sums * w], 1) ** 2).sum(0))
    return torch.stack(out)


def three_of_them(x, w, edges):
    out = []
    for rows in x:
        joined = torch.cat((rows, torch.sin(rows), rows * w), dim=-1)
        out.append(joined.amax(0))
    return torch.stack(out)


def rows_of_entries(x, w, edges):
    """A value of each row, beside the rows."""
    out = []
    for rows in x:
        norms = torch.stack([(row * row).sum() for row in rows])
        out.append(torch.cat([rows, norms[:, None]], 1).mean(0))
    return torch.stack(out)


def written_to_again(x, w, edges):
    out = []
    for rows, pairs in zip(x, edges):
        sums = torch.zeros_like(rows)
        for s, t in pairs:
            sums[t] += rows[s]
        first = torch.cat([rows, sums], 1).sum(0)
        for s, t in pairs:
            sums[s] += rows[t]
        out.append(first + torch.cat([rows, sums], 1).sum(0))
    return torch.stack(out)


def kept_in_a_tuple(x, w, edges):
    out = []
    for rows, pairs in zip(x, edges):
        sums = torch.zeros_like(rows)
        both = (rows, sums)
        for s, t in pairs:
            sums[t] += rows[s]
        out.append(torch.cat(both, 1).sum(0))
    return torch.stack(out)


def one_below_the_other(x, w, edges):
    out = []
    for rows in x:
        out.append(torch.cat([rows, rows * w], 0).amax(0))
    return torch.stack(out)


def of_other_lengths(x, w, edges):
    out = []
    for rows, others in zip(x, x[::-1]):
        out.append(torch.cat([rows, others], 1).sum(0))
    return torch.stack(out)


LIFTED = [beside_sums, three_of_them, rows_of_entries]
EDGES = [[(0, 1), (2, 1), (1, 1)], [(0, 1)], [(3, 0), (0, 3), (2, 2), (-1, 0)]]


def values():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(n, 3, generator=generator) for n in (3, 2, 4)], torch.linspace(-1, 1, 3)


@pytest.mark.parametrize("program", [*LIFTED, written_to_again, kept_in_a_tuple, one_below_the_other])
def test_joined(program):
    x, w = values()
    lifted = lift(program, verify="off", backend="torch")
    for gradients in (False, True, True):
        for count in (3, 2):
            given = [x[:count], w, EDGES[:count]]
            got, wanted = (outcome(one, given, gradients=gradients) for one in (lifted, program))
            assert not difference(got, wanted, magnitude=1.0)
    if program in LIFTED:
        assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def test_other_lengths_raise_as_in_the_loop():
    x, w = values()
    lifted = lift(of_other_lengths, verify="off", backend="torch")
    same = [x[0], x[1], x[0].sin()]
    torch.testing.assert_close(lifted(same, w, EDGES), of_other_lengths(same, w, EDGES))
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        lifted(x, w, EDGES)
