"""Small functions that show in which order things happen, and what is whose, each with arguments."""

import bisect
import heapq
import math
import random
from collections import defaultdict, deque

from typed_given import given


@given(lambda: (4,))
def of_chain_side(n):
    log = []

    def g(x):
        log.append(x)
        return x

    for i in range(n):
        if g(1) < g(i) < g(3):
            log.append(-1)
    return log


@given(lambda: (3,))
def of_contains_side(n):
    log = []

    def g(x):
        log.append(x)
        return x

    for i in range(n):
        if g(i) in (g(1), g(2)):
            log.append(-1)
        z = [g(7), g(i)] + [g(8)]
        d = {g(1): g(2), g(3): g(4)}
        log.append(d[1] + len(z))
    return log


@given(lambda: ([1, 2],))
def of_aug_order(a):
    def g():
        a[0] = 100
        return 1

    for k in range(2):
        a[0] += g()
    return a


@given(lambda: ([1, 2],))
def of_swap_side(a):
    i = 0
    for k in range(2):
        i, a[i] = 1, 9
    return a, i


@given(lambda: ([1],))
def of_multi(a):
    x = y = []
    for v in a:
        x.append(v)
    return x, y, x is None


@given(lambda: ([-5, 5, 0, 2**40],))
def of_shift(a):
    out = []
    for x in a:
        out.append((x >> 1, x << 2, ~x, x & 5, x | 8, x ^ 3))
    return out


@given(lambda: ([1, -1],))
def of_shift_neg(a):
    out = []
    for x in a:
        out.append(1 << x)
    return out


@given(lambda: ([0.5, 1.5, -2.5, 2, True, -0.0],))
def of_round(a):
    out = []
    for x in a:
        out.append((round(x), abs(x), -x, +x, int(x)))
    return out


@given(lambda: ([1, 2],))
def of_extend_self(a):
    for k in range(2):
        a.extend(a)
    a += a
    return a


@given(lambda: ([1, 2],))
def of_slice_alias(a):
    b = a[:]
    for i in range(len(b)):
        b[i] += 1
    c = a
    c.append(5)
    return a, b, c


@given(lambda: (["a", "bb", "c"],))
def of_dict_nested(words):
    d = {}
    for w in words:
        d.setdefault(len(w), []).append(w)
        d.setdefault(0, [])
    return d


@given(lambda: ({"a": {"b": 1}, "b": {"a": 2, "c": 3}, "c": {}},))
def of_dict_of_dict(g):
    t = 0
    for u in g:
        for v in g[u]:
            t += g[u][v]
            g[u][v] = 0
    return t, g


@given(lambda: (5,))
def of_deque_max(n):
    q = deque(maxlen=3)
    for i in range(n):
        q.append(i)
    return q


@given(lambda: ([1, 2, 1],))
def of_default_dict_read(a):
    d = defaultdict(int)
    n = 0
    for x in a:
        if d[x] == 0:
            n += 1
    return n, len(d)


@given(lambda: ([1, 2],))
def of_kw(a):
    def g(x, y=2, z=3):
        return x * 100 + y * 10 + z

    return [g(x, z=1) + g(y=5, x=x) for x in a]


@given(lambda: (6,))
def of_mutual(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return [even(i) for i in range(n)]


@given(lambda: (5,))
def of_shadow(n):
    sum = 0
    for i in range(n):
        sum += i
    max = sum
    return sum, max


@given(lambda: (["ab", "ba", "é", ""],))
def of_str_cmp(ws):
    n = 0
    for a in ws:
        for b in ws:
            if a < b:
                n += 1
            if a == b[::-1]:
                n += 10
    return n, min(ws), max(ws), ws[0] * 2 + "!"


@given(lambda: ([], {}, ""))
def of_empty_everything(a, d, s):
    n = 0
    for x in a:
        n += 1
    for k in d:
        n += 1
    for c in s:
        n += 1
    return n, a, d, s, sum(a), len(d)


@given(lambda: ([1, 2],))
def of_tuple_grow(a):
    t = ()
    for x in a:
        t = t + (x,)
    return t


@given(lambda: ([1, 2],))
def of_bool_key(a):
    d = {True: 1}
    for x in a:
        d[x] = d.get(x, 0) + 1
    return d


@given(lambda: ([(1, 2.0), (1.0, 2), (1, 2.0)],))
def of_tuple_mixed_key(a):
    d = {}
    for x, y in a:
        d[(x, y)] = d.get((x, y), 0) + 1
    return d


@given(lambda: ([1, 2],))
def of_in_mixed(a):
    return [1.0 in a, True in a, 5 in [5.0], (1, 2.0) in [(1.0, 2)], [x == 1 for x in a].count(True)]


@given(lambda: ([1, 2],))
def of_index_bool(a):
    out = []
    for x in a:
        out.append(["no", "yes"][x > 1])
    return out, "ab"[True]


@given(lambda: ([1, 2, 3],))
def of_while_pop(a):
    t = 0
    while a:
        t = t * 10 + a.pop(0)
    return t


@given(lambda: ([9, 3, 7, 3],))
def of_heap_tuple(a):
    h = [(x, [x]) for x in a]
    heapq.heapify(h)
    out = []
    while h:
        k, v = heapq.heappop(h)
        out.append(k)
        v.append(0)
        if k > 5:
            heapq.heappush(h, (k - 5, v))
    return out


@given(lambda: ([2**60 + 1, 0.5, True, -1.5],))
def of_round_mixed(a):
    out = []
    for x in a:
        out.append((round(x), math.floor(x), math.ceil(x), math.trunc(x), int(x)))
    return out


@given(lambda: ([1, 2, 3, 0, 4],))
def of_chain_long(a):
    n = 0
    for x in a:
        if 0 < x <= 3 != x - 1 < 7:
            n += 1
        if a[0] < a[x] < a[x + 1] if x + 1 < len(a) else False:
            n += 10
    return n


@given(lambda: ([1, 2, 3, 9, 8, 7, 6],))
def of_chain_guard(a):
    n = 0
    for i in range(6):
        if -1 < i < len(a) and a[i] > 1:
            n += 1
        if i < 3 < a.pop() < 100:
            n += 10
    return n, a


def _many(count, values, seed=0):
    generator = random.Random(seed)
    return [generator.choice(values) if generator.random() < 0.4 else generator.gauss(0, 1) for _ in range(count)]


@given(lambda: (_many(700, [0.0, -0.0, float("inf"), -float("inf"), 5e-324, -1e300]),))
def of_many_sorted(a):
    up, down = sorted(a), sorted(a, reverse=True)
    places = sorted(range(len(a)), key=lambda i: a[i])
    back = sorted(range(len(a)), key=lambda i: -a[i], reverse=True)
    n = 0
    for i in range(len(a)):
        n += places[i] * i - back[i]
    return up, down, places, back, n


@given(lambda: ([random.Random(k).choice([0, -1, k, 2**63 - 1, -(2**63), k % 7]) for k in range(600)],))
def of_many_integers_sorted(a):
    places = sorted(range(len(a)), key=lambda i: a[i], reverse=True)
    n = 0
    for i in range(len(a)):
        n += places[i] * i
    return sorted(a), places, n


@given(lambda: ([3, 1, 4, 1, 5, 9, 2, 6, 5, 3],))
def of_inserted_in_order(xs):
    low, high = [], [2.5]
    for x in xs:
        bisect.insort(low, x)
        bisect.insort_left(high, x / 2)
        bisect.insort_right(high, x)
        if len(low) > 4:
            del low[0]
    return low, high


@given(lambda: ([(3, "c"), (1, "a"), (2, "b"), (1, "z"), (0, "e")],))
def of_pairs_inserted_in_order(pairs):
    found = []
    for pair in pairs:
        bisect.insort(found, pair)
    return found


@given(lambda: ([0.5, -1.0, 3.0, 2.0, 2.0, 8.0, -2.0],))
def of_greatest(xs):
    heap, out = [], []
    for x in xs:
        if len(heap) < 3:
            heapq.heappush(heap, x)
        elif x > heap[0]:
            out.append(heapq.heapreplace(heap, x))
        out.append(heapq.heappushpop(heap, x + 1))
    return heap, out


@given(lambda: ([1],))
def of_replaced_in_none(xs):
    for x in xs:
        heapq.heapreplace([], x)


@given(lambda: ([1.0, math.nan],))
def of_nan_inserted(xs):
    found = [0.5]
    for x in xs:
        bisect.insort(found, x)
    return [str(one) for one in found]
