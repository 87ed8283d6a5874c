"""More algorithms of textbooks: searches, sorts and recursion, each with arguments."""

import bisect
import functools
import math
from collections import defaultdict

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: ([(0, 2.0), (0, 3.0), (1, 0.0), (3, 0.0), (2, 0.0)],))
def of_stack_machine(code):
    stack = []
    for op, arg in code:
        if op == 0:
            stack.append(arg)
        elif op == 1:
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b)
        elif op == 2:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b)
        elif op == 3:
            stack.append(stack[-1])
        else:
            stack[-1], stack[-2] = stack[-2], stack[-1]
    return stack


@given(lambda: (5,))
def of_queens(n):
    solutions = []
    cols, d1, d2 = set(), set(), set()
    board = []

    def place(r):
        if r == n:
            solutions.append(board[:])
            return
        for c in range(n):
            if c in cols or (r + c) in d1 or (r - c) in d2:
                continue
            cols.add(c)
            d1.add(r + c)
            d2.add(r - c)
            board.append(c)
            place(r + 1)
            cols.remove(c)
            d1.remove(r + c)
            d2.remove(r - c)
            board.pop()

    place(0)
    return solutions


def is_safe(board, row, col):
    for r in range(row):
        if board[r] == col or abs(board[r] - col) == row - r:
            return False
    return True


def solve(board, row, n):
    if row == n:
        return 1
    count = 0
    for col in range(n):
        if is_safe(board, row, col):
            board[row] = col
            count += solve(board, row + 1, n)
            board[row] = -1
    return count


@given(lambda: (4,))
def of_queens_global(n):
    return solve([-1] * n, 0, n)


@given(lambda: ([1, 2, 3],))
def of_permutations(nums):
    out = []

    def back(path, used):
        if len(path) == len(nums):
            out.append(path[:])
            return
        for i in range(len(nums)):
            if used[i]:
                continue
            used[i] = True
            path.append(nums[i])
            back(path, used)
            path.pop()
            used[i] = False

    back([], [False] * len(nums))
    return out


def merge_sort(a):
    if len(a) <= 1:
        return a
    m = len(a) // 2
    left, right = merge_sort(a[:m]), merge_sort(a[m:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out += right[j:]
    return out


@given(lambda: ([5, 2, 9, 1],))
def of_merge(a):
    return merge_sort(a)


@given(lambda: ([5, 2, 9, 1],))
def of_quick_functional(a):
    def qs(a):
        if len(a) <= 1:
            return a
        p = a[len(a) // 2]
        return qs([x for x in a if x < p]) + [x for x in a if x == p] + qs([x for x in a if x > p])

    return qs(a)


@given(lambda: (20,))
def of_fib_memo(n, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n <= 2:
        return 1
    memo[n] = of_fib_memo(n - 1, memo) + of_fib_memo(n - 2, memo)
    return memo[n]


@given(lambda: ([[2.0, 1, -1], [-3.0, -1, 2], [-2.0, 1, 2]], [8.0, -11, -3]))
def of_gauss(A, b):
    n = len(A)
    M = [row[:] + [b[i]] for i, row in enumerate(A)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(M[r][i]))
        M[i], M[p] = M[p], M[i]
        for j in range(i + 1, n):
            f = M[j][i] / M[i][i]
            for k in range(i, n + 1):
                M[j][k] -= f * M[i][k]
    x = [0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (M[i][n] - sum(M[i][j] * x[j] for j in range(i + 1, n))) / M[i][i]
    return x


@given(lambda: ([(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)],))
def of_fft(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = of_fft(x[0::2]), of_fft(x[1::2])
    out = [0] * n
    for k in range(n // 2):
        a = -2 * math.pi * k / n
        re = math.cos(a) * odd[k][0] - math.sin(a) * odd[k][1]
        im = math.cos(a) * odd[k][1] + math.sin(a) * odd[k][0]
        out[k] = (even[k][0] + re, even[k][1] + im)
        out[k + n // 2] = (even[k][0] - re, even[k][1] - im)
    return out


@given(lambda: ([1, 2, 3, 3], [3, 4, 5, 6], [50, 10, 40, 70]))
def of_job(start, end, profit):
    jobs = sorted(zip(start, end, profit), key=lambda j: j[1])
    ends = [j[1] for j in jobs]
    dp = [0] * (len(jobs) + 1)
    for i, (s, e, p) in enumerate(jobs):
        k = bisect.bisect_right(ends, s)
        dp[i + 1] = max(dp[i], dp[k] + p)
    return dp[-1]


@given(lambda: (["eat", "tea", "tan", "ate", "nat", "bat"],))
def of_group(words):
    groups = defaultdict(list)
    for w in words:
        groups["".join(sorted(w))].append(w)
    return list(groups.values())


@given(lambda: (6, 2))
def of_egg(n, k):
    @functools.lru_cache(None)
    def dp(k, n):
        if k == 1 or n <= 1:
            return n
        best = float("inf")
        for x in range(1, n + 1):
            best = min(best, 1 + max(dp(k - 1, x - 1), dp(k, n - x)))
        return best

    return dp(k, n)


@given(lambda: (3,))
def of_hanoi(n):
    moves = []

    def move(n, a, b, c):
        if n == 0:
            return
        move(n - 1, a, c, b)
        moves.append((a, b))
        move(n - 1, c, b, a)

    move(n, "A", "C", "B")
    return moves


@given(lambda: ([1, 2, 3],))
def of_counter_nonlocal(xs):
    count = 0

    def visit(i):
        nonlocal count
        if i >= len(xs):
            return
        if xs[i] % 2:
            count += 1
        visit(i + 1)

    visit(0)
    return count


@given(lambda: (5,))
def of_pascal(n):
    rows = []
    for i in range(n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows
