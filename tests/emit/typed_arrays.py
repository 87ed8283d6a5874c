"""Small functions over NumPy's arrays, and what is made of their elements, with arguments."""

import heapq
import math
from collections import defaultdict, deque

import numpy as np
from typed_given import given


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).random(shape)


def whole(*shape, seed=0, high=9):
    return np.random.default_rng(seed).integers(0, high, shape)


@given(lambda: (whole(6, 7, high=2), 3, 3))
def of_flood_fill(image, row, column):
    old, stack = image[row, column], [(row, column)]
    while stack:
        i, j = stack.pop()
        if 0 <= i < image.shape[0] and 0 <= j < image.shape[1] and image[i][j] == old and image[i, j] != 7:
            image[i, j] = 7
            stack.extend([(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)])
    return image, old


@given(lambda: (drawn(6, 6) * (drawn(6, 6, seed=1) > 0.5), 0))
def of_shortest_paths(weights, start):
    n = weights.shape[0]
    distance, done = np.full(n, np.inf), np.zeros(n, dtype=bool)
    distance[start] = 0
    heap = [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if done[u]:
            continue
        done[u] = True
        for v in range(n):
            if weights[u, v] > 0 and d + weights[u, v] < distance[v]:
                distance[v] = d + weights[u, v]
                heapq.heappush(heap, (distance[v], v))
    return distance, done, heap


@given(lambda: (drawn(6, 6),))
def of_spanning_tree(weights):
    n = len(weights)
    parent = np.arange(n)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    edges = sorted((weights[i, j], i, j) for i in range(n) for j in range(i + 1, n))
    total, tree, roots = 0.0, [], []
    for w, i, j in edges:
        a, b = find(i), find(j)
        if a != b:
            parent[a] = b
            total += w
            tree.append((i, j))
            roots.append(a)
    return total, tree, roots, parent


@given(lambda: (5,))
def of_queens(n):
    board, count = np.zeros((n, n), dtype=int), 0

    def place(row):
        nonlocal count
        if row == n:
            count += 1
            return
        for c in range(n):
            safe = True
            for i in range(row):
                if board[i, c] == 1 or (c - row + i >= 0 and board[i, c - row + i] == 1):
                    safe = False
                if c + row - i < n and board[i, c + row - i] == 1:
                    safe = False
            if safe:
                board[row, c] = 1
                place(row + 1)
                board[row, c] = 0

    place(0)
    return count, board


@given(lambda: (whole(8), drawn(8)))
def of_types(a, x):
    queue = deque()
    out1, out2, out3, out4 = [], [], [], []
    for k in range(len(a)):
        i, f = a[k], x[k]
        queue.append(i)
        out1.append((i, i + 1, 1 + i, i + 1.5, i * f, f + 2, 2 * f, -i, -f, abs(-i), i // 2, i % 3, i / 2, f // 0.1))
        out2.append((f % 0.3, i**2, 2**i, f**2, i > 3, i == k, f < 0.5, k == i, i & 3, i | 1, i ^ k, ~i))
        out3.append((max(i, k), min(f, 0.5), max(i, f), int(f * 10), float(i), int(i), bool(i), round(f * 10), not i))
        out4.append((divmod(i, 3), i if i > 4 else k, (i > 3) + 1, (i > 3) & (f > 0.5), i == 3 or k, i and f))
    return (
        (out1, out2, out3, out4),
        queue,
        sum(a[:3]),
        sum(x),
        sum(a, 2.5),
        sum(v for v in x if v > 0.5),
        sum(a[:0]),
        sum(x[:0], 1),
    )


@given(lambda: (drawn(1), drawn(0), whole(2)))
def of_sizes(one, none, two):
    out = []
    for x in (one, none):
        out.append([v for v in x])
        for k, v in enumerate(x):
            out[-1].append(v + k)
    for v, w in zip(two, one):
        out.append([v, w, two[-1] + one[0]])
    return out, len(none), none.shape, none.sum(), one.sum()


@given(lambda: (drawn(4, 5), whole(4, 5), whole(4, 5) > 4))
def of_stores(x, a, m):
    a[0, 0] = 3.7
    a[1, 1] = x[2, 2] * 10
    a[2, 1] = True
    x[0, 1] = 4
    x[1] = x[2]
    x[2], x[3] = x[3], x[2]
    x[:, 4] = x[:, 0]
    x[1:, 0] = 9
    x[0, ::-1] = x[0]
    m[0, 1] = a[1, 1]
    m[1, 1] = x[0, 0] > 0.5
    m[2] = False
    a[3] += 5
    a[:, 2] += a[:, 3]
    x[1] -= 0.5 * x[0]
    x[2, 1:] *= 2
    for row in x:
        row[1] = row[0] + row[2]
    for _ in range(3):
        a[-1, -1] += 1
        a[a[3, 3] % 4, 0] -= 2
    return x[0, 1], a[0, 0]


@given(lambda: (drawn(5), 3))
def of_new_arrays(x, n):
    out1, out2, out3, out4 = [], [], [], []
    for k in range(1, n):
        row = np.zeros((k, n))
        row[k - 1, 0] = x[k]
        other = np.full(k, k)
        other[0] = other[0] * 2
        out1.append(row)
        out2.append((other, np.ones(k, dtype=bool), np.zeros_like(x), np.full((k, 2), 0.5), np.full(3, -1)))
        out3.append(
            (
                np.array([k, n]),
                np.array([[0.5 * k, 1.0], [2.0, 3.0]]),
                np.array([x[0] + 1, 2.0]),
                np.eye(k),
                np.arange(k, 2 * n, 2),
            )
        )
        out4.append(
            (x.copy(), np.copy(other), np.empty_like(x, dtype=int).shape, row.shape, row.size, x.ndim, len(row))
        )
    return (out1, out2, out3, out4), row, other


@given(lambda: (drawn(300), whole(20), drawn(7, 9)))
def of_folds(x, a, t):
    out1, out2, out3, out4 = [], [], [], []
    for k in range(3):
        t[k, 0] -= 0.25
        out1.append((x[k:].sum(), np.sum(x[::3]), t.sum(), a.sum(), (a > 3).sum(), x.mean(), np.mean(t), x[k:9].max()))
        out2.append((x.min(), np.argmax(a), a.argmin(), np.max(t), (a > k).any(), np.all(a > k), max(a), min(x)))
        out3.append((np.min([x[0], x[1], 0.5]), np.argmin((a[0], a[1])), np.sqrt(x[k]), np.abs(t[k, 0] - 1), np.inf))
        out4.append((np.maximum(a[k], 3), np.isnan(x[k]), np.floor(x[k] * 5), np.float64(k), np.int64(x[k] * 9)))
    return out1, out2, out3, out4


@given(lambda: (drawn(4), drawn(4, 4), whole(4)))
def of_all_elements(x, t, a):
    kept = []
    for k in range(3):
        y = x * 2 + a - t[k] / 4
        y += x
        kept.append((y, t - x, a * a, a / 2, x > 0.5, t[:, k] * t[k], -x, np.abs(a - 4), x**2, 1 - x, t.T[k] + 0))
        x[k] = y[k]
    return kept


@given(lambda: (whole(12, high=3),))
def of_runs(values):
    out, previous, count = [], None, 0
    for v in values:
        if v == previous:
            count += 1
        else:
            if previous is not None:
                out.append((previous, count))
            previous, count = v, 1
    out.append((previous, count))
    return out


@given(lambda: (whole(12, high=4),))
def of_counts(labels):
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    places = [[] for _ in range(5)]
    for k, label in enumerate(labels):
        places[label].append(k)
    return counts, places, labels.tolist()


@given(lambda: ("AGGTAC", "GATTACA"))
def of_local_alignment(a, b):
    score, best, place = np.zeros((len(a) + 1, len(b) + 1), int), 0, (0, 0)
    for i in range(1, score.shape[0]):
        for j in range(1, score.shape[1]):
            step = score[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            score[i, j] = max(step, score[i - 1, j] - 2, score[i, j - 1] - 2, 0)
            if score[i, j] > best:
                best, place = score[i, j], (i, j)
    found = ""
    i, j = place
    while score[i, j] > 0:
        found = b[j - 1] + found
        i, j = i - 1, j - 1
    return found, best, score[place]


@given(lambda: (drawn(4), 2))
def of_index_error(x, k):
    for i in range(len(x)):
        x[i] = i
        if i == k:
            x[len(x) + k] = 1
    return x


@given(lambda: (drawn(3), 0.0))
def of_divided_by_zero(x, y):
    out = []
    with np.errstate(all="ignore"):
        for k in range(3):
            out.append(x[k] / y)
    return out


@given(lambda: (np.arange(3),))
def of_truncated_integers(x):
    out = []
    for k in range(3):
        out.append(math.trunc(x[k]))
    return out


@given(lambda: ([k % 3 for k in range(12)], drawn(12, 2)))
def of_group_sums_of_rows(keys, rows):
    width = rows.shape[1]
    sums, counts = defaultdict(lambda: np.zeros(width)), defaultdict(int)
    for key, row in zip(keys, rows):
        sums[key] += row
        counts[key] += 1
    out = np.zeros((3, width))
    for key in sums:
        out[key] = sums[key] / counts[key]
    return out, dict(sums)


@given(lambda: ([k % 3 for k in range(12)], drawn(12)))
def of_dicts_and_lists_that_are_made_where_they_are_missing(keys, x):
    counts, pairs = defaultdict(lambda: defaultdict(int)), defaultdict(lambda: [0, 0.0])
    for key, one in zip(keys, x):
        counts[key][int(one > 0)] += 1
        pairs[key][0] += 1
        pairs[key][1] += float(one)
    return {key: dict(inner) for key, inner in counts.items()}, dict(pairs)


@given(lambda: ([k % 3 for k in range(5)],))
def of_what_is_made_with_the_value_of_now(keys):
    made = defaultdict(lambda: np.full(2, 0.5 * turn))
    for turn in range(4):
        made[keys[turn]] += 0.5
    return dict(made)


@given(lambda: (np.array([2**62, 2**62, 5]),))
def of_wrapped_integers(a):
    out = []
    with np.errstate(all="ignore"):
        for k in range(2):
            out.append(a[k] + a[k + 1])
    return out


@given(lambda: (drawn(30), np.array([0.2, 0.3, 0.1]), np.array([1.0, 0.4, -0.2])))
def of_a_filter_whose_past_is_a_list(x, b, a):
    y = []
    for n in range(len(x)):
        total = 0.0
        for k in range(len(b)):
            if n - k >= 0:
                total += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                total -= a[k] * y[n - k]
        y.append(total)
    return np.array(y), y


@given(lambda: (drawn(30), drawn(30) ** 2))
def of_a_chain_that_begins_as_a_number(noise, chances):
    state, chain, taken = 0.0, [], 0
    for k in range(len(noise)):
        proposed = state + noise[k]
        if chances[k] < state * state - proposed * proposed + 1:
            state = proposed
            taken += 1
        chain.append(state)
    return np.array(chain), taken, chain


@given(lambda: (drawn(4), 3))
def of_integers_beside_floats_of_either_library(x, count):
    rows = []
    for k in range(count):
        row = [k, 0.5]
        for one in x:
            row.append(one if one > 0 else 1.5)
        rows.append(row)
    return np.array(rows), rows


@given(lambda: (drawn(4), np.arange(4), -1))
def of_numbers_that_turn_out_to_be_integers(x, counts, least):
    found = []
    for k in range(4):
        found.append(k if counts[k] > least else x[k])
    return np.array(found)


@given(lambda: (np.arange(4, dtype=np.float32), drawn(4)))
def of_single_numbers_among_numbers(x, y):
    found = []
    for k in range(4):
        found.append(x[k] if y[k] > 0 else 2)
    return np.array(found)


@given(lambda: (drawn(5),))
def of_views_handed_out(x):
    kept = []
    for k in range(3):
        kept.append(x[k:])
    kept[0][0] = 5
    return kept, x


def of_one_array_twice(x, y):
    for k in range(len(x)):
        x[k] += 1
        y[k] *= 2
    return y


of_one_array_twice.arguments = lambda: (lambda x: (x, x))(drawn(4))


def of_arrays_that_share(x, y):
    for k in range(len(y)):
        x[k] = y[k] + 1
    return x


of_arrays_that_share.arguments = lambda: (lambda x: (x[1:], x[:-1]))(drawn(5))


def of_read_only(x):
    for k in range(len(x)):
        x[k] = k
    return x


def frozen(x):
    x.flags.writeable = False
    return x


of_read_only.arguments = lambda: (frozen(drawn(4)),)


def of_strides(x, y):
    heap = []
    for k in range(len(x)):
        heapq.heappush(heap, x[k, 1] + y[k])
        x[k, 0] = y[-k]
    return heap, x


of_strides.arguments = lambda: (drawn(8, 9)[::2, 1::3].T, drawn(6)[::-2])


def of_spread(x, y):
    heap = []
    for k in range(len(x)):
        heapq.heappush(heap, x[k] + y[k])
    return heap


of_spread.arguments = lambda: (np.broadcast_to(np.float64(2), (3,)), drawn(3))


@given(lambda: (whole(4, 5, high=2), drawn(3, 4)))
def of_columns(mask, table):
    counts, last, run = [], 0, 0
    for pixel in mask.ravel(order="F"):
        if pixel != last:
            counts.append(run)
            last, run = pixel, 0
        run += 1
    for one in (table.ravel("F"), table.flatten(order="F"), table.flatten("C"), table[1].ravel(order="F")):
        counts.append(len(one))
        one[0] = 7.0
        counts.append(one[1])
    return counts, table


@given(lambda: (np.asfortranarray(drawn(4, 5)), []))
def of_rows_that_lie_in_columns(table, log):
    row = table.ravel()
    for k in range(3):
        row[k] = 7.0
        log.append(row[k])
    return table


@given(lambda: (np.asfortranarray(drawn(40, 50)), []))
def of_a_sum_in_columns(table, log):
    for k in range(3):
        heapq.heappush(log, table.sum() * k)
    return log


@given(lambda: (drawn(300), drawn(6, 7, seed=1), 9))
def of_functions_with_digits_of_their_own(x, table, n):
    found = []
    for k in range(len(x)):
        one = x[k] * 30
        found.append((np.log(one), np.exp(-one), np.sin(one), np.cos(100 * one), np.tanh(one), np.log1p(one)))
        found.append((np.arctan(one), np.arcsin(x[k]), np.sinh(one), np.expm1(x[k]), np.exp2(x[k]), np.log10(n)))
    return found, np.exp(table), np.cos(1e6 * x), np.log2(table[2]), np.log(n + 1.5)


@given(lambda: ([0.5, 0.0, 2.0],))
def of_a_logarithm_that_warns(x):
    return [np.log(one) for one in x]


@given(lambda: ([1.0, float("inf"), float("nan"), -float("inf")],))
def of_functions_of_what_is_no_number(x):
    return [(np.exp(one), np.tanh(one), np.arctan(one), np.log(abs(one))) for one in x]


@given(lambda: (drawn(4, 5), 3))
def of_a_report(readings, least):
    report = {"mean": [], "kept": [], "last": []}
    for row in readings:
        total, n = 0.0, 0
        for x in row:
            if x > 0.2:
                total += x
                n += 1
        report["mean"].append(total / max(n, 1))
        report["kept"].append(n)
        report["last"].append(n >= least)
    return {name: np.array(values) for name, values in report.items()}
