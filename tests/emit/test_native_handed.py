"""Lists that other lists take, in kernels: as copies where nothing else knows them, else the loop runs."""

import copy

import pytest

from looplift import lift


def best_paths(seen, steps, shown):
    n = len(steps)
    best = [[shown[s][seen[0]] for s in range(n)]]
    back = []
    for t in range(1, len(seen)):
        row, came = [], []
        for s in range(n):
            top, place = -1.0, 0
            for p in range(n):
                if best[t - 1][p] * steps[p][s] > top:
                    top, place = best[-1][p] * steps[p][s], p
            row.append(top * shown[s][seen[t]])
            came.append(place)
        best.append(row)
        back.append(came)
    return max(best[-1]), len(back)


def dialled(n):
    moves = [[4, 6], [6, 8], [7, 9], [4, 8], [0, 3, 9], [], [0, 1, 7], [2, 6], [1, 3], [2, 4]]
    ways = [1] * 10
    for _ in range(n):
        new = [0] * 10
        for d in range(10):
            for m in moves[d]:
                new[m] = (new[m] + ways[d]) % 1000007
        ways = new
    return ways


def cube(n):
    table = [[[i + j] * 2 for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(n):
            table[i][j][0] = table[i][j - 1][1] + 1
    return table


def palindrome(s):
    n = len(s)
    inside = [[False] * n for _ in range(n)]
    start, best = 0, 1
    for i in range(n - 1, -1, -1):
        for j in range(i, n):
            if s[i] == s[j] and (j - i < 2 or inside[i + 1][j - 1]):
                inside[i][j] = True
                if j - i + 1 > best:
                    start, best = i, j - i + 1
    return s[start : start + best]


def changed_later(n):
    rows = []
    for i in range(n):
        row = [i] * 3
        rows.append(row)
        row[0] = 7
    return rows


def taken_twice(n):
    rows = []
    for i in range(n):
        row = [i] * 2
        rows.append(row)
        rows.append(row)
    for i in range(n):
        rows[0][0] += i
    return rows


def shared(n):
    row = [0] * 2
    rows = [row, row]
    for i in range(n):
        rows[0][0] += i
    return rows


def ragged(n):
    rows = [[1]]
    for i in range(1, n):
        rows.append([1] + [rows[i - 1][j] + rows[i - 1][j + 1] for j in range(i - 1)] + [1])
    return rows


LIFTED = {
    best_paths: [([0, 1, 1], [[0.5, 0.25], [0.5, 0.75]], [[0.1, 0.9], [0.6, 0.4]]), ([1], [[1.0]], [[0.5, 0.5]])],
    dialled: [(0,), (1,), (12,)],
    cube: [(0,), (1,), (3,)],
    palindrome: [("abacabd",), ("a",), ("abcb",)],
}
OTHERS = {changed_later: [(3,), (0,)], taken_twice: [(2,)], shared: [(3,)], ragged: [(1,), (2,), (5,)]}


@pytest.mark.parametrize("function", [*LIFTED, *OTHERS], ids=lambda function: function.__name__)
def test_lists_in_lists_are_those_of_the_loop(function):
    lifted = lift(function, verify="off")
    for arguments in (LIFTED | OTHERS)[function]:
        found, wanted = lifted(*copy.deepcopy(arguments)), function(*copy.deepcopy(arguments))
        assert repr(found) == repr(wanted)
        if function in (taken_twice, shared):
            assert found[0] is found[1]
    if function in LIFTED:
        assert {loop.decision for loop in lifted.report().loops} == {"native"}
