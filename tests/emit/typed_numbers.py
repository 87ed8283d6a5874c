"""Small functions in which Python's numbers show what they are, with arguments."""

import math

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: ([30, 35, 15, 5, 10, 20, 25],))
def of_matrix_chain(p):
    n = len(p) - 1
    m = [[0] * n for _ in range(n)]
    s = [[0] * n for _ in range(n)]
    for L in range(2, n + 1):
        for i in range(n - L + 1):
            j = i + L - 1
            m[i][j] = float("inf")
            for k in range(i, j):
                q = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]
                if q < m[i][j]:
                    m[i][j] = q
                    s[i][j] = k
    return m[0][n - 1], s


@given(lambda: (10,))
def of_collatz(n):
    best, at = 0, 0
    cache = {1: 1}
    for i in range(1, n):
        x, steps = i, 0
        while x not in cache:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        cache[i] = steps + cache[x]
        if cache[i] > best:
            best, at = cache[i], i
    return at, best


@given(lambda: (42, 5))
def of_lcg(seed, n):
    out = []
    x = seed
    for _ in range(n):
        x = (1103515245 * x + 12345) % 2**31
        out.append(x / 2**31)
    return out


@given(lambda: ([1, 2, 0],))
def of_zero_div(a):
    out = []
    for x in a:
        out.append(10 // x)
    a.append(99)
    return out


@given(lambda: ([1, 2, 0, 3],))
def of_bool_types(a):
    out = []
    for x in a:
        out.append(x > 1)
    t = True
    for x in a:
        t = t and x
    return out, sum(out), t, True + True, any(a), all(a), max(out), (1 == 1.0)


@given(lambda: ([0, 1, 2, 0], [3, 0, 5, 0]))
def of_and_or(a, b):
    out = []
    for x, y in zip(a, b):
        out.append(x or y)
        out.append(x and y)
        out.append(not x)
    return out


@given(lambda: ([1, 2.5, 3],))
def of_mixed_sum(a):
    s = 0
    for x in a:
        s += x
    return s, type(s) is int


@given(lambda: ([1, 2.5, 3, True],))
def of_mixed_sum2(a):
    s = 0
    for x in a:
        s += x
    return s


@given(lambda: ([1, 2], [0.1, 0.2, 0.3], [1, 0.5, True]))
def of_sum_builtin(a, b, c):
    t = 0
    for k in range(2):
        t += sum(a)
    return sum(a), sum(b), sum(c), t, sum([x * 0.5 for x in a])


@given(lambda: ([0.5, 1.5],))
def of_sum_empty(a):
    s = 0
    for k in range(2):
        s += 1
    return sum([x for x in a if x > 100])


@given(lambda: ([7, -7, 0], [2, -2, 3]))
def of_floor(a, b):
    out = []
    for x in a:
        for y in b:
            out.append((x // y, x % y, divmod(x, y)))
    return out


@given(lambda: ([7.5, -7.5, 0.0, -0.0, 1e300, inf], [2.0, -2.0, 0.3, inf]))
def of_floor_f(a, b):
    out = []
    for x in a:
        for y in b:
            out.append((x // y, x % y, x / y))
    return out


@given(lambda: ([7, -7.5, 3], [2, 2.5, -3]))
def of_floor_m(a, b):
    out = []
    for x in a:
        for y in b:
            out.append((x // y, x % y, x / y, x - y, x * y, x < y, x == y))
    return out


@given(lambda: ([0, 1, 5, 10],))
def of_pow(a):
    out = []
    for x in a:
        out.append((x**2, 2**x, x**0.5, pow(3, x, 7)))
    return out


@given(lambda: ([0, 1, -1],))
def of_pow_neg(a):
    out = []
    for x in a:
        out.append(2**x)
    return out


@given(lambda: (30,))
def of_overflow(n):
    x = 1
    for i in range(1, n):
        x *= i
    return x


@given(lambda: (70,))
def of_overflow_shift(n):
    x = 0
    for i in range(n):
        x |= 1 << i
    return x


@given(lambda: (63,))
def of_overflow_edge(n):
    x = 0
    for i in range(n):
        x |= 1 << i
    return x, -x - 1, abs(-x - 1)


@given(lambda: ([2**70, 1],))
def of_big_arg(a):
    s = 0
    for x in a:
        s += x
    return s


@given(lambda: ([nan, 1.0, 2.0, nan],))
def of_nan(a):
    best = a[0]
    for x in a:
        if x > best:
            best = x
    return best, max(a), min(a), nan in a, a.count(a[0]), a[0] == a[0], sorted(a)


@given(lambda: ([nan, 1.0, 2.0, nan],))
def of_nan2(a):
    best = a[0]
    out = []
    for x in a:
        out.append(x != x)
        if x > best:
            best = x
    return best, max(a), min(a), out


@given(lambda: ([1.0, 1, True, 0, 2],))
def of_minmax_ties(a):
    out = []
    for x in a:
        out.append((max(x, 1), min(x, 1), max(1, x), min(1, x), max(x, 1.0), min(0.0, -0.0, x)))
    return out


@given(lambda: ([(1, 5), (2, 5), (2, 1)],))
def of_max_key(a):
    out = []
    for k in range(2):
        out.append(max(a, key=lambda t: t[k]))
    return out, min(a, key=lambda t: -t[1]), max(range(5), key=lambda i: -abs(i - 2))


@given(lambda: ([1, 2],))
def of_max_default(a):
    out = 0
    for x in a:
        out += x
    return max([x for x in a if x > 10], default=-1), max(a, default=None)


@given(lambda: ([3, 5, 4, 8],))
def of_none_state(a):
    prev = None
    best = None
    out = []
    for x in a:
        if prev is not None and x > prev:
            out.append(x - prev)
        if best is None or x > best:
            best = x
        prev = x
    return out, best, prev


@given(lambda: ([],))
def of_none_empty(a):
    prev = None
    for x in a:
        prev = x
    return prev


@given(lambda: ([],))
def of_unbound(a):
    for x in a:
        y = x
    return y


@given(lambda: ([1, 2],))
def of_unbound2(a):
    for x in a:
        if x > 5:
            y = x
    return y


@given(lambda: ([1, 2],))
def of_loopvar(a):
    for i in range(len(a)):
        pass
    for j in range(10):
        if j == 4:
            break
    return i, j


@given(lambda: ([0, 1.0, 1, True],))
def of_mixed_keys(a):
    d = {}
    for x in a:
        d[x] = d.get(x, 0) + 1
    return d


@given(lambda: ([2**53 + 1, 2**62, 5], [float(2**53), 5.0, 1e300]))
def of_int_float_compare(a, b):
    out = []
    for x in a:
        for y in b:
            out.append((x < y, x == y, x >= y))
    return out


@given(lambda: ([2**60 + 1, 7],))
def of_truediv_big(a):
    out = []
    for x in a:
        out.append(x / 3)
    return out


@given(lambda: ([1.5, 2.5, -1.5, -0.5, 10000000000.0],))
def of_int_of_float(a):
    out = []
    for x in a:
        out.append((int(x), round(x), math.floor(x), math.ceil(x)))
    return out


@given(lambda: ([1.5, inf],))
def of_int_of_inf(a):
    out = []
    for x in a:
        out.append(int(x))
    return out


@given(lambda: ([1.5, 2.5, 0.1],))
def of_math(a):
    out = []
    for x in a:
        out.append((math.sqrt(x), math.exp(x), math.log(x), math.sin(x), x**1.5))
    return out


@given(lambda: ([1.5, -2.5],))
def of_math_err(a):
    out = []
    for x in a:
        out.append(math.sqrt(x))
    return out


@given(lambda: ([1, 3, 4, 5],))
def of_chain(a):
    n = 0
    for x in a:
        if 0 < x < 5 < x + 3 != 7:
            n += 1
    return n


@given(lambda: ([1, 2, 3, 0],))
def of_keep_type(a):
    a[0] = a[0] + 0
    a[1] = a[1] * 1.0
    for i in range(2, len(a)):
        a[i] = a[i] > 1
    return a


@given(lambda: ([],))
def of_never(a):
    s = 0
    for k in range(3):
        s += k
    t = a[0] + 1
    return t


@given(lambda: ([],))
def of_never2(a):
    s = 0
    for k in range(3):
        s += k
    if s > 100:
        return a[0] * 2
    return a


@given(lambda: ([],))
def of_never3(a):
    s = 0
    for k in range(3):
        s += k
        for x in a:
            for y in x:
                s += y * 2
    return s, max(a, default=None)


@given(lambda: ({},))
def of_never4(d):
    s = 0
    for k in range(3):
        s += d["a"] + 1
    return s


@given(lambda: ([],))
def of_never5(d):
    s = 0
    for k in range(3):
        if d[k] == 3 or d[k] > 2:
            s += 1
    return s


@given(lambda: ([1.5, 2.5, 0.1, 0],))
def of_trig(a):
    out = []
    for x in a:
        out.append((math.sin(x), math.cos(x), math.atan2(x, 2), math.tanh(x)))
    return out


@given(lambda: ([1.5, inf],))
def of_trig_inf(a):
    out = []
    for x in a:
        out.append(math.sin(x))
    return out


LOWEST, NOTHING = float("-inf"), math.nan


def highest(values):
    best = LOWEST
    for value in values:
        if value > best:
            best = value
    return best


def first_of(values):
    if values:
        return values[0]
    return NOTHING if len(values) > 9 else math.nan


@given(lambda: ([[1.0, -2.0], [], [-5.0]],))
def of_lowest_of_a_helper(rows):
    out = []
    for row in rows:
        out.append(highest(row))
        out.append(math.inf)
    return out


@given(lambda: ([[1.0, -2.0], [], [-5.0]],))
def of_nan_of_a_helper(rows):
    out = []
    for row in rows:
        out.append(first_of(row))
    return out


@given(lambda: ([[4.0, 1.0, 2.0], [0.5, 3.0, 1.0], [1.0, 1.0, 5.0]], [1.0, 2.0, 3.0]))
def of_back_substitution(a, b):
    n = len(a)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(m[r][col]))
        m[col], m[pivot] = m[pivot], m[col]
        for r in range(col + 1, n):
            factor = m[r][col] / m[col][col]
            for c in range(col, n + 1):
                m[r][c] -= factor * m[col][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


@given(lambda: ([1.5, -0.0, 2.0], 3))
def of_sums_of_nothing(xs, n):
    out, more, kept = [], [], []
    for i in range(n):
        total = sum(xs[:i])
        kept.append(total)
        out.append((sum(x for x in xs if x > i) * 2, 1.5 - total, -total, total % 2 if total else total, abs(total)))
        more.append((sum(xs[:i], True), sum(xs[:i], 0.5), sum([xs[i], 2.0]), sum(kept, 0.0), sum(kept), total // 1))
    return out, more, kept, max(kept), sorted(kept), sum([n][1:], True), sum([n, n], True), sum([n][1:], n)
