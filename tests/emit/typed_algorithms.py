"""Algorithms of textbooks over lists, text and dicts, each with arguments."""

import functools
import math
from collections import deque

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: ("AGGTABCBDAB", "GXTXAYBBDCABA"))
def of_lcs(a, b):
    m, n = len(a), len(b)
    dp = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                dp[i][j] = dp[i - 1][j - 1] + 1
            else:
                dp[i][j] = max(dp[i - 1][j], dp[i][j - 1])
    out = []
    i, j = m, n
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1])
            i -= 1
            j -= 1
        elif dp[i - 1][j] >= dp[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(out))


@given(lambda: ("kitten", "sitting"))
def of_edit_memo(s, t):
    memo = {}

    def d(i, j):
        if i == 0:
            return j
        if j == 0:
            return i
        if (i, j) in memo:
            return memo[(i, j)]
        if s[i - 1] == t[j - 1]:
            r = d(i - 1, j - 1)
        else:
            r = 1 + min(d(i - 1, j), d(i, j - 1), d(i - 1, j - 1))
        memo[(i, j)] = r
        return r

    return d(len(s), len(t))


@given(lambda: ("kitten", "sitting"))
def of_edit_cache(s, t):
    @functools.lru_cache(maxsize=None)
    def d(i, j):
        if i == 0:
            return j
        if j == 0:
            return i
        cost = 0 if s[i - 1] == t[j - 1] else 1
        return min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + cost)

    return d(len(s), len(t))


@given(lambda: ([1, 3, 4, 5], [1, 4, 5, 7], 7))
def of_knapsack(weights, values, cap):
    n = len(weights)
    dp = [[0 for _ in range(cap + 1)] for _ in range(n + 1)]
    for i in range(1, n + 1):
        for w in range(cap + 1):
            dp[i][w] = dp[i - 1][w]
            if weights[i - 1] <= w:
                dp[i][w] = max(dp[i][w], dp[i - 1][w - weights[i - 1]] + values[i - 1])
    chosen = []
    w = cap
    for i in range(n, 0, -1):
        if dp[i][w] != dp[i - 1][w]:
            chosen.append(i - 1)
            w -= weights[i - 1]
    chosen.reverse()
    return dp[n][cap], chosen


@given(lambda: ([30, 35, 15, 5, 10, 20, 25],))
def of_mcm_memo(p):
    memo = {}

    def solve(i, j):
        if i == j:
            return 0
        if (i, j) in memo:
            return memo[i, j]
        best = math.inf
        for k in range(i, j):
            best = min(best, solve(i, k) + solve(k + 1, j) + p[i] * p[k + 1] * p[j + 1])
        memo[i, j] = best
        return best

    return solve(0, len(p) - 2)


@given(lambda: ([10, 9, 2, 5, 3, 7, 101, 18],))
def of_lis(a):
    n = len(a)
    dp = [1] * n
    prev = [-1] * n
    for i in range(n):
        for j in range(i):
            if a[j] < a[i] and dp[j] + 1 > dp[i]:
                dp[i] = dp[j] + 1
                prev[i] = j
    k = max(range(n), key=lambda i: dp[i])
    seq = []
    while k != -1:
        seq.append(a[k])
        k = prev[k]
    return seq[::-1]


@given(lambda: (bytearray(b"123456789"),))
def of_crc_table(data):
    table = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table.append(c)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@given(lambda: ("aaabbc",))
def of_rle(s):
    out = []
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append((s[i], j - i))
        i = j
    return out


@given(lambda: ([1, 3, -1, -3, 5, 3, 6, 7], 3))
def of_sliding_max(x, k):
    dq = deque()
    out = []
    for i, v in enumerate(x):
        while dq and x[dq[-1]] <= v:
            dq.pop()
        dq.append(i)
        if dq[0] <= i - k:
            dq.popleft()
        if i >= k - 1:
            out.append(x[dq[0]])
    return out


@given(lambda: ([2, 1, 5, 6, 2, 3],))
def of_histogram(h):
    stack = []
    best = 0
    h = h + [0]
    for i, x in enumerate(h):
        start = i
        while stack and stack[-1][1] >= x:
            start, height = stack.pop()
            best = max(best, height * (i - start))
        stack.append((start, x))
    return best


@given(lambda: ("GGGAAAUCC",))
def of_nussinov_fn(seq):
    def couple(x, y):
        return (x == "A" and y == "U") or (x == "U" and y == "A") or (x == "G" and y == "C") or (x == "C" and y == "G")

    n = len(seq)
    dp = [[0] * n for _ in range(n)]
    for k in range(1, n):
        for i in range(n - k):
            j = i + k
            down = dp[i + 1][j]
            left = dp[i][j - 1]
            diag = dp[i + 1][j - 1] + couple(seq[i], seq[j])
            rc = max([dp[i][t] + dp[t + 1][j] for t in range(i, j)])
            dp[i][j] = max(down, left, diag, rc)
    return dp[0][n - 1]


@given(
    lambda: (
        ["normal", "cold", "dizzy"],
        ("Healthy", "Fever"),
        {"Healthy": 0.6, "Fever": 0.4},
        {"Healthy": {"Healthy": 0.7, "Fever": 0.3}, "Fever": {"Healthy": 0.4, "Fever": 0.6}},
        {"Healthy": {"normal": 0.5, "cold": 0.4, "dizzy": 0.1}, "Fever": {"normal": 0.1, "cold": 0.3, "dizzy": 0.6}},
    )
)
def of_viterbi_dict(obs, states, start_p, trans_p, emit_p):
    V = [{}]
    path = {}
    for y in states:
        V[0][y] = start_p[y] * emit_p[y][obs[0]]
        path[y] = [y]
    for t in range(1, len(obs)):
        V.append({})
        newpath = {}
        for y in states:
            (prob, state) = max((V[t - 1][y0] * trans_p[y0][y] * emit_p[y][obs[t]], y0) for y0 in states)
            V[t][y] = prob
            newpath[y] = path[state] + [y]
        path = newpath
    (prob, state) = max((V[len(obs) - 1][y], y) for y in states)
    return prob, path[state]


@given(lambda: ("aabxaab",))
def of_z(s):
    n = len(s)
    z = [0] * n
    l = r = 0
    for i in range(1, n):
        if i < r:
            z[i] = min(r - i, z[i - l])
        while i + z[i] < n and s[z[i]] == s[i + z[i]]:
            z[i] += 1
        if i + z[i] > r:
            l, r = i, i + z[i]
    return z


@given(lambda: ("banana",))
def of_suffix(s):
    n = len(s)
    sa = sorted(range(n), key=lambda i: s[i:])
    rank = [0] * n
    for i, p in enumerate(sa):
        rank[p] = i
    lcp = [0] * n
    h = 0
    for i in range(n):
        if rank[i] > 0:
            j = sa[rank[i] - 1]
            while i + h < n and j + h < n and s[i + h] == s[j + h]:
                h += 1
            lcp[rank[i]] = h
            if h > 0:
                h -= 1
        else:
            h = 0
    return sa, lcp


@given(lambda: ([(0, 0), (1, 1), (2, 2), (2, 0), (0, 2), (1, 0)],))
def of_hull(points):
    pts = sorted(points)

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    lower = []
    for p in pts:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    upper = []
    for p in reversed(pts):
        while len(upper) >= 2 and cross(upper[-2], upper[-1], p) <= 0:
            upper.pop()
        upper.append(p)
    return lower[:-1] + upper[:-1]


@given(lambda: ("{[()]}()",))
def of_valid_paren(s):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in s:
        if c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
        else:
            stack.append(c)
    return not stack


@given(lambda: (["2", "1", "+", "3", "*"],))
def of_rpn(tokens):
    stack = []
    for t in tokens:
        if t in ("+", "-", "*"):
            b = stack.pop()
            a = stack.pop()
            if t == "+":
                stack.append(a + b)
            elif t == "-":
                stack.append(a - b)
            else:
                stack.append(a * b)
        else:
            stack.append(int(t))
    return stack[0]
