"""Lists and variables that hold Python's integers at one time and floats at another, in kernels."""

import copy
import math

import pytest
import torch

from looplift import lift


def fewest_coins(coins, amount):
    dp = [0] + [float("inf")] * amount
    for coin in coins:
        for x in range(coin, amount + 1):
            dp[x] = min(dp[x], dp[x - coin] + 1)
    return dp


def chain(sizes):
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j] = float("inf")  # type: ignore[call-overload]
            for k in range(i, j):
                q = cost[i][k] + cost[k + 1][j] + sizes[i].item() * sizes[k + 1].item() * sizes[j + 1].item()
                if q < cost[i][j]:
                    cost[i][j] = q
    return cost


def shortest(graph):
    n = len(graph)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if graph[i][k] + graph[k][j] < graph[i][j]:
                    graph[i][j] = graph[i][k] + graph[k][j]
    return graph[0]


def packed(weights, values, capacity):
    dp = [0] * (capacity + 1)
    for w, v in zip(weights.tolist(), values.tolist()):
        for c in range(capacity, w - 1, -1):
            dp[c] = max(dp[c], dp[c - w] + v)
    return dp


def greatest(x):
    best, current = float("-inf"), 0
    for i in range(len(x)):
        current = max(x[i].item(), current + x[i].item())
        best = max(best, current)
    return best, current


def lowest(grid):
    m, n = grid.shape
    dp = [[0] * n for _ in range(m)]
    for i in range(m):
        for j in range(n):
            up = dp[i - 1][j] if i > 0 else float("inf")
            left = dp[i][j - 1] if j > 0 else math.inf
            dp[i][j] = grid[i][j].item() + (0 if i == j == 0 else min(up, left))
    return dp


def operations(values, n):
    out = []
    best = 0
    for i in range(n):
        v = values[i]
        best = v if v > best else best
        out.append(-v)
        out.append(abs(v) * 0)
        out.append(v - best)
        out.append(v // 3 if v < 100 else best)
        out.append(v % -4 if v < 100 else best)
        out.append(float(v) / 2)
    return out, best


def sums(values, n):
    total = 0
    for i in range(n):
        total = total + values[i] if values[i] else total - 0.5
        values[i] = total
    return total


def rows(prev, n):
    for i in range(n):
        cur = [0] * len(prev)
        for j in range(1, len(prev)):
            cur[j] = min(prev[j] + 1, cur[j - 1] + prev[j - 1])
        prev = cur
    return prev


def reachable(items, target):
    dp = [[False for _ in range(target + 1)] for _ in range(len(items) + 1)]
    for i in range(len(items) + 1):
        dp[i][0] = True
    for i in range(1, len(items) + 1):
        for j in range(1, target + 1):
            dp[i][j] = dp[i - 1][j] or (j >= items[i - 1] and dp[i - 1][j - items[i - 1]])
    return dp


INF = float("inf")
CASES = {
    "coins": (fewest_coins, [([2, 5], 11), ([1], 0), ([], 3), ([7], 5)]),
    "chain": (chain, [(torch.tensor(s),) for s in ([3, 4, 5, 2], [1, 2], [4], [9, 8, 7, 6, 5])]),
    "shortest": (shortest, [([[0, 2, INF], [INF, 0, 3.0], [1, INF, 0]],), ([[0, INF], [4, 0]],), ([[INF, 1]] * 2,)]),
    "packed": (packed, [(torch.tensor([2, 3, 9]), torch.tensor([1.5, 2.25, 3.0]), 7)]),
    "greatest": (greatest, [(torch.tensor(x),) for x in ([3, -5, 4], [-2], [0, 0, -1])]),
    "lowest": (lowest, [(torch.tensor([[1, 2], [3, 4], [5, 6]]),), (torch.zeros((1, 1), dtype=torch.long),)]),
    "operations": (
        operations,
        [
            ([0, -0.0, 7, 2.5, -7, -2.5, INF, math.nan], 8),
            ([-0.0, 0, 1], 3),
            ([2**53, 0.5], 2),
            ([2**60, 0.5], 2),
            ([3, 1.0], 0),
        ],
    ),
    "sums": (sums, [([1, 2, 0, 4, 0.0], 5), ([1, 2], 2), ([2**53 - 1, 5, 0], 3), ([1, 0.5], 0)]),
    "rows": (rows, [([0, INF, INF, 3], 3), ([1, 0.5], 0), ([0, 1, 2], 2)]),
    "reachable": (reachable, [([3, 5, 9], 14), ([], 2), ([1], 0)]),
}


def exact(value):
    """A value with its types, and the signs of its zeros."""
    if isinstance(value, list | tuple):
        return type(value), [exact(item) for item in value]
    return (type(value), repr(value))


@pytest.mark.parametrize("name", CASES)
def test_integers_and_floats_keep_their_types(name):
    function, calls = CASES[name]
    lifted = lift(function, verify="off")
    for arguments in calls:
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        wanted = function(*theirs)
        assert exact(lifted(*mine)) == exact(wanted)
        plain = [(a, b) for a, b in zip(mine, theirs) if not isinstance(a, torch.Tensor)]
        assert all(exact(a) == exact(b) for a, b in plain)
    decisions = {loop.decision for loop in lifted.report().loops}
    assert "native" in decisions and "kept" not in decisions


def test_a_float_is_no_index():
    def walk(steps, n):
        place = 0
        for i in range(n):
            place = min(steps[place], 2.5 if i > 3 else 2)
        return place

    lifted = lift(walk, verify="off")
    assert exact(lifted([1, 2, 0.0], 2)) == exact(walk([1, 2, 0.0], 2))
    with pytest.raises(TypeError):
        walk([1.0, 2, 0], 2)
    with pytest.raises(TypeError):
        lifted([1.0, 2, 0], 2)


def test_a_row_that_is_handed_out_too_stays_the_same_object():
    def last(n):
        rows = []
        row = []
        for i in range(n):
            row = [0] * 2
            row[0] = i
            rows.append(row)
        return rows, row

    rows, row = lift(last, verify="off")(3)
    assert rows == [[0, 0], [1, 0], [2, 0]] and rows[-1] is row
