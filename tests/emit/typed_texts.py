"""More small functions: text, results that are shared, dicts and what is changed while it is gone through."""

import functools
import heapq
from collections import defaultdict

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: ([1, 0],))
def of_assert(a):
    for x in a:
        assert x > 0, "no"
    return 1


@given(lambda: ([1, -4],))
def of_raise(a):
    for x in a:
        if x < 0:
            raise ValueError(f"bad {x}")
    return 1


@given(lambda: (3,))
def of_nested_empty(n):
    out = [[] for _ in range(n)]
    for i in range(n):
        if i > 100:
            out[i].append(1)
    return out, {}, [], ()


@given(lambda: (3,))
def of_result_shared(n):
    row = [0] * n
    out = []
    for i in range(n):
        out.append(row)
    out[0][0] = 5
    return out, row


@given(lambda: ([[1, 1], [2, 2], [3, 3]],))
def of_returns_arg_part(m):
    for r in m:
        if sum(r) > 3:
            return r
    return None


@given(lambda: ([[1], [2], [3]],))
def of_swap_rows(m):
    for i in range(len(m) - 1):
        m[i], m[i + 1] = m[i + 1], m[i]
    return m


@given(lambda: (((1, 2), (3, 4)),))
def of_tuple_arg(t):
    s = 0
    for a, b in t:
        s += a * b
    return s, t


@given(lambda: ([1, 2, 3, 2, 1],))
def of_set_ops(a):
    seen = set()
    dup = set()
    for x in a:
        if x in seen:
            dup.add(x)
        seen.add(x)
    return sorted(seen), sorted(dup), len(seen), seen == dup


@given(lambda: ([100, 2, 37, 2, 1, 64, 8],))
def of_set_out(a):
    seen = set()
    for x in a:
        seen.add(x)
    return seen


@given(lambda: ({1, 2}, [3, 4, 1]))
def of_set_arg(s, a):
    for x in a:
        s.add(x)
    return len(s)


@given(lambda: ([5, 3, 8, 3, 1],))
def of_heap(a):
    h = []
    for i, x in enumerate(a):
        heapq.heappush(h, (x, i))
    out = []
    while h:
        out.append(heapq.heappop(h))
    heapq.heapify(a)
    return out, a


@given(lambda: ([0.0, -0.0, 1.5, 1.5],))
def of_float_keys(a):
    d = {}
    for x in a:
        d[x] = d.get(x, 0) + 1
    return d


@given(lambda: ([1, 2],))
def of_global_changed(a):
    s = 0
    for x in a:
        s += x * SCALE
    return s


def helper(x, k=2):
    return x * k + SCALE


@given(lambda: ([1, 2],))
def of_helper(a):
    s = 0
    for x in a:
        s += helper(x) + helper(x, k=3)
    return s


@given(lambda: ([1, 2],))
def of_lambda(a):
    sq = lambda v: v * v
    s = 0
    for x in a:
        s += sq(x)
    return s


@given(lambda: (20,))
def of_while_else(n):
    i = 0
    while i < n:
        if i == 50:
            break
        i += 1
    else:
        i = -1
    return i


@given(lambda: ([5, 3, 5],))
def of_defaultdict(a):
    d = defaultdict(int)
    e = defaultdict(list)
    for i, x in enumerate(a):
        d[x] += 1
        e[x % 3].append(i)
        if d[x + 100] > 5:
            return None
    return len(d), sorted(d), sorted(e.items()), dict is None


@given(lambda: (80,))
def of_cache_limited(n):
    @functools.lru_cache
    def g(k):
        return k if k < 2 else g(k - 1) + g(k - 2)

    t = 0
    for i in range(n):
        t += g(i)
    return t


@given(lambda: (20,))
def of_cache_over(n):
    @functools.lru_cache(maxsize=4)
    def g(k):
        return k if k < 2 else g(k - 1) + g(k - 2)

    return g(n)


@given(lambda: (b"abc\xff",))
def of_bytes(b):
    t = 0
    for i in range(len(b)):
        t = (t * 31 + b[i]) % 1000003
    return t, b[0], b[1:3]


@given(lambda: (bytearray(b"abc"),))
def of_bytearray_store(b):
    for i in range(len(b)):
        b[i] ^= 0x55
    return b


@given(lambda: ([[1, 2], [3]], [[1, 3], [3]]))
def of_compare_lists(a, b):
    n = 0
    for x, y in zip(a, b):
        if x < y:
            n += 1
        if x == y:
            n += 10
        if x >= y:
            n += 100
    return n, a == b, a < b


@given(lambda: ([1, 2, 3, 4, 5],))
def of_del_slice(a):
    del a[1:3]
    for i in range(2):
        a.append(i)
    a[:] = [x * 2 for x in a]
    return a


@given(lambda: ([1, 2, 3],))
def of_star(a):
    first, *rest = a
    s = 0
    for x in rest:
        s += x
    return first, rest, s


@given(lambda: (9,))
def of_neg_range(n):
    out = []
    for i in range(n, -1, -2):
        out.append(i)
    for i in range(0):
        out.append(99)
    return out, [i for i in reversed(range(0, n, 3))], list(range(5, 0, -1))


@given(lambda: ([1, 2, 3],))
def of_comp_scope(a):
    x = 10
    b = [x for x in a]
    for i in a:
        b += [x for x in range(i) if x != i]
    return x, b, {k: v for k, v in zip(a, b)}, {y % 2 for y in a} == {0, 1}


@given(lambda: (" a, b ,c\nd e  f\n\n x,,y, \n",))
def of_split_lines(text):
    rows = []
    for line in text.strip().split("\n"):
        rows.append([part.strip() for part in line.split(",")])
        words = line.split()
        if len(words) > 1:
            rows.append(words)
    return rows


@given(lambda: (["a-b-c", "", "-", "--"],))
def of_split_parts(words):
    out = []
    for w in words:
        parts = w.split("-")
        parts.append("end")
        last = parts.pop(0)
        out.append((last, parts, len(parts)))
    return out


@given(lambda: (["xyaz", " abba ", "zzz", "", "x\ty", "aaa", "\n q"],))
def of_stripped(words):
    out, seen = [], {}
    for w in words:
        other = w.lstrip("xy").rstrip("z") + w.strip("ab") + w.rstrip() + "|" + w.lstrip()
        out.append(other.replace("a", "bb").replace("bb", ""))
        seen[other] = len(seen)
        if len(seen) > 3:
            del seen[next(iter(seen))]
    return out, seen, out[0].split("b")


@given(lambda: (["a b\x85c", "\u2003x "],))
def of_split_at_other_blanks(words):
    return [w.split() for w in words]


@given(lambda: (["a"],))
def of_split_at_nothing(words):
    out = []
    for w in words:
        out.append(w.split(""))
    return out
