"""Small functions that use containers in each way that there is, with arguments."""

import heapq
from collections import defaultdict, deque

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: (lambda v: (v, v))([1, 2, 3]))
def of_alias(a, b):
    for i in range(len(a)):
        a[i] += b[i]
    return a, b, a is None


@given(lambda: ([[0, 1]] * 3,))
def of_rows_alias(m):
    for i in range(len(m)):
        for j in range(len(m[i])):
            m[i][j] += 1
    return m


@given(lambda: (4,))
def of_mult_alias(n):
    g = [[0] * n] * n
    for i in range(n):
        g[i][i] += i
    return g


@given(lambda: ([1, 2, 3], [0, 1, 7, 2]))
def of_partial_error(a, idx):
    for i in idx:
        a[i] = a[i] * 2
    return a


@given(lambda: ({"a": 1, "b": 2}, ["a", "b", "c"]))
def of_key_error(d, keys):
    t = 0
    for k in keys:
        t += d[k]
        d[k] = 0
    return t


@given(lambda: ([1, 2], 3))
def of_pop_empty(a, n):
    s = 0
    for _ in range(n):
        s += a.pop()
    return s


@given(lambda: ([3, 1, 2],))
def of_negative_index(a):
    return [a[i - 1] - a[i] for i in range(len(a))]


@given(lambda: ([(1, 2), (0, 1), (1, 1), (0, 3)],))
def of_sort_stable(a):
    b = sorted(a, key=lambda t: t[0])
    c = sorted(a, key=lambda t: t[0], reverse=True)
    d = sorted(a, reverse=True)
    a.sort(key=lambda t: -t[1])
    for t in b:
        c.append(t)
    return a, b, c, d


@given(lambda: (["bb", "a", "ccc", "a", "dd"],))
def of_sort_words(ws):
    out = []
    for w in sorted(ws, key=len):
        out.append(w)
    return out, sorted(ws), sorted(set(ws)), sorted("hello")


@given(lambda: ([3, 1, 2, 1, 5, 3],))
def of_dict_order(keys):
    d = {}
    for k in keys:
        d.pop(k, None)
        d[k] = len(d)
    out = []
    for k, v in d.items():
        out.append((k, v))
    return d, out, list(d), list(d.values())


@given(lambda: ({1: 2, 2: 3},))
def of_dict_changed(d):
    for k in d:
        d[k + 10] = 1
    return d


@given(lambda: ({1: 2, 2: 3},))
def of_dict_update_value(d):
    for k in d:
        d[k] = d[k] * 2
    return d


@given(lambda: ({"x": 1, "y": 2}, ["a", "x", "x", "y", "a"]))
def of_dict_arg(d, ks):
    for k in ks:
        d[k] = d.get(k, 0) + 1
        if d[k] > 2:
            d.pop(k)
    return len(d)


@given(lambda: ([0, 1],))
def of_list_changed(a):
    for x in a:
        if x < 3:
            a.append(x + 1)
    return a


@given(lambda: ([2, 2, 3, 4, 4, 5],))
def of_list_removed(a):
    for x in a:
        if x % 2 == 0:
            a.remove(x)
    return a


@given(lambda: (30,))
def of_deque_ops(n):
    q = deque()
    for i in range(n):
        q.append(i)
        q.appendleft(-i)
        if i % 3 == 0:
            q.pop()
        if i % 4 == 0:
            q.popleft()
    return q, len(q), list(q), q[0], q[-1]


@given(lambda: (deque([5, 9, 20, 30]),))
def of_deque_arg(q):
    s = 0
    while q:
        x = q.popleft()
        s += x
        if x > 3:
            q.append(x // 2)
        if s > 50:
            break
    return s


@given(lambda: ([1, 2, 3, 4, 5, 6],))
def of_list_ops(a):
    a.insert(0, 5)
    a.insert(-1, 6)
    a.insert(100, 7)
    a.pop(1)
    a.pop(-2)
    a.reverse()
    del a[0]
    b = a[::-1]
    c = a[1:3]
    d = a[-2:]
    e = a[::2]
    f = a[5:1:-2]
    a.extend(x * 2 for x in b)
    a += [1]
    for i in range(len(a)):
        a[i] -= 1
    return a, b, c, d, e, f, a.index(b[0] - 1) if (b[0] - 1) in a else None


@given(lambda: (5,))
def of_closure_late(n):
    fs = 0
    k = 1

    def add(x):
        return x + k

    for i in range(n):
        k = i
        fs += add(1)
    return fs


@given(lambda: (3,))
def of_order_effects(n):
    log = []

    def f(x):
        log.append(x)
        return x

    for i in range(n):
        z = f(1) + f(2) * f(3)
        log.append(z)
        w = [f(i), f(i + 1)][f(0)]
        log.append(w)
        if f(0) and f(9):
            pass
        y = f(5) if f(i) else f(6)
        log.append(y)
        log[f(0)] += f(7)
    return log


@given(lambda: ([1, 2, 4, 8, 16],))
def of_pop_order(a):
    out = []
    while len(a) >= 2:
        out.append(a.pop() - a.pop())
        out.append((a[-1] if a else 0) + len(out))
    return out


@given(lambda: ("ab1C2a Zé",))
def of_str_ops(s):
    out = ""
    for c in s:
        if c.isdigit():
            out += str(int(c) + 1)
        elif c.isupper():
            out = c.lower() + out
        else:
            out += c * 2
    return (
        out,
        out[::-1],
        s.count("a"),
        s.find("b"),
        "z" in s,
        f"{len(s)}-{out}",
        s[2:5],
        s < "hello",
        "".join([c for c in s if c != "a"]),
    )


@given(lambda: ("ab1C2a Zaa",))
def of_str_ops2(s):
    out = ""
    for c in s:
        if c.isdigit():
            out += str(int(c) + 1)
        elif c.isupper():
            out = c.lower() + out
        else:
            out += c * 2
    return (
        out,
        out[::-1],
        s.count("a"),
        s.find("b"),
        "z" in s,
        f"{len(s)}-{out}",
        s[2:5],
        s < "hello",
        "".join([c for c in s if c != "a"]),
    )


@given(lambda: ([1.0, 0.1, 1e22, 1e-07, inf, -0.0, 123456789.123],))
def of_str_float(a):
    out = ""
    for x in a:
        out += str(x) + ","
    return out


@given(lambda: ("héé😀ß",))
def of_unicode(s):
    d = {}
    for c in s:
        d[c] = d.get(c, 0) + ord(c)
    return d, chr(0x1F600) + s


@given(lambda: (5000,))
def of_recursion_deep(n):
    def g(k):
        return 0 if k == 0 else 1 + g(k - 1)

    t = 0
    for i in range(3):
        t += g(n)
    return t


@given(lambda: (100,))
def of_recursion_ok(n):
    def g(k):
        return 0 if k == 0 else 1 + g(k - 1)

    t = 0
    for i in range(3):
        t += g(n)
    return t


@given(lambda: (3,))
def of_deque_pop_at_a_place(n):
    queue, out = deque(), []
    for k in range(n):
        queue.append(k)
    while queue:
        out.append(queue.pop(0))
    return out


@given(lambda: (3,))
def of_list_popleft(n):
    queue = [1, 2]
    for k in range(n):
        queue.append(queue.popleft())
    return queue


@given(lambda: (3,))
def of_set_of_constants(n):
    found = {16, 1, 2, 3, 4}
    for k in range(n):
        found.add(32 * k)
    return found


@given(lambda: (3,))
def of_set_of_constants_asked(n):
    found, out = {16, 1, 2, 3, 4}, []
    for k in range(n):
        out.append(k in found)
    return out, sorted(found)


@given(lambda: (0,))
def of_empty_orders(n):
    found, rows, out = set(), [], []
    for k in range(n):
        found.add(k)
    for k in range(3):
        out = out + sorted(found) + sorted(rows)
        out.append(k + sum(sorted(rows)) + max(rows, default=0))
    return out


@given(lambda: ([(2, None), (1, 5), (3, None)],))
def of_order_beside_none(pairs):
    heap, out = [], []
    for pair in pairs:
        heapq.heappush(heap, pair)
    while heap:
        out.append(heapq.heappop(heap))
    return out, sorted(pairs)


@given(lambda: ([(2, None), (2, 5), (3, None)],))
def of_order_of_none(pairs):
    heap, out = [], []
    for pair in pairs:
        heapq.heappush(heap, pair)
    while heap:
        out.append(heapq.heappop(heap))
    return out


@given(lambda: ([3, 1, 4, 1, 5, 9, 2, 6],))
def of_dict_of_counts(xs):
    counts = defaultdict(int)
    for x in xs:
        counts[x % 4] += x
    held = dict(counts)
    counts[9] += 1
    held[7] = 0.5
    return held, dict(held), len(counts)


@given(lambda: ([3, 1, 4, 1, 5, 9, 2, 6],))
def of_dict_of_lists(xs):
    rows = defaultdict(list)
    for k, x in enumerate(xs):
        rows[x % 3].append(k)
    found = dict(rows)
    for key in found:
        rows[key].append(-1)
    return found


@given(lambda: ({1: 2.5, 3: 4.5, 0: 1.0},))
def of_dict_of_the_callers(given):
    found = dict(given)
    for key in given:
        found[key + 1] = found[key] * 2
        if key in found and key > 2:
            found.pop(key)
    return found, given is found


@given(lambda: ({},))
def of_dict_of_nothing(given):
    found = []
    for k in range(3):
        found.append(dict(given))
        given[k] = 0.5 * k
    return found
