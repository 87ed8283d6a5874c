"""Names that are nowhere, and objects that a program only reaches by a path, are no None."""

import functools

import pytest
import torch

from looplift import lift


def with_missing_name(x):
    if not_there is None:  # noqa: F821
        return 1
    return x


def sums_with_missing_name(values):
    out = []
    for x in values:
        out.append(with_missing_name(x) + len(str(x)))
    return out


def test_a_name_that_is_nowhere_raises():
    lifted = lift(sums_with_missing_name, verify="off")
    for _ in range(2):
        with pytest.raises(NameError, match="name 'not_there' is not defined"):
            lifted([1, 2, 3])


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.count = torch.nn.Linear(4, 4), 0

    def decode(self, node, h):
        self.count += 1
        return torch.tanh(self.w(h)).sum() + len(node)

    def forward(self, nodes, codes):
        self.count = 0
        losses = [self.decode(node, h) for node, h in zip(nodes, codes)]
        return torch.stack(losses).mean(), self.count


@pytest.mark.parametrize("verify", ["off", "first", "always"])
def test_counters_of_modules_count_once(verify):
    def run(model, nodes, codes):
        return model(nodes, codes)

    model, lifted = Counting(), lift(run, verify=verify)
    for seed in range(4):
        torch.manual_seed(seed)
        nodes, codes = [["a"] * (seed + k) for k in range(3)], torch.randn(3, 4)
        want = run(model, nodes, codes)
        got = lifted(model, nodes, codes)
        assert got[1] == want[1] == model.count == 3
        torch.testing.assert_close(got[0], want[0])


def cheapest_ways(grids):
    out = []
    for grid in grids:

        @functools.lru_cache(maxsize=None)
        def best(y, x):
            if y == 0 and x == 0:
                return grid[0][0]
            if y < 0 or x < 0:
                return 10**9
            return grid[y][x] + min(best(y - 1, x), best(y, x - 1))

        out.append(best(len(grid) - 1, len(grid[0]) - 1))
    return out


def twice_scaled(rows):
    @functools.cache
    def doubled(i):
        return i * 2

    out = []
    for row in rows:
        for k in range(2):

            @functools.cache
            def item(i):
                return row[i] * (k + 1) + doubled(i)

            out.append([item(i) for i in range(len(row))])
    return out


@pytest.mark.parametrize("function", [cheapest_ways, twice_scaled])
def test_results_are_kept_as_long_as_their_function(function):
    rows = [[[r * 7 % 5 + c for c in range(4)] for r in range(k, k + 4)] for k in range(5)]
    given = rows if function is cheapest_ways else rows[0] + rows[3]
    lifted = lift(function, verify="off")
    assert lifted(given) == function(given)
    assert lifted(given[::-1]) == function(given[::-1])
    assert all(loop.decision == "native" for loop in lifted.report().loops)
