# precision: exact
"""Program 1000010835: exception: none instead of ZeroDivisionError('integer division or modulo by zero')  [seed 0]"""

import bisect
import collections
import random


def program(ints, reals, words, rows, table, others, n):
    acc, out, seen, counts, queue, heap = ([], [], set(), {}, collections.deque(), [])
    total, mean, label, last = (0, 0.0, "", None)
    groups = {}
    grid = [[0] * 3 for _ in range(n)]
    if not 3 ^ 7:
        acc = acc + ints
        acc = acc[:25]
    v2 = 3
    while v2 > 0:
        v2 -= 1
        words[-1] = ("ab" * 2)[:7][0::-1]
        acc = acc[:3] + [0]
        if len(acc) > 1:
            acc[0], acc[-1] = (acc[-1], acc[0])
    else:
        for v6 in acc:
            if len(acc) + len(others) + len(rows) > 80:
                break
            if -7 in ints:
                if acc:
                    acc.extend(ints[:3] + [True + -2])
                    del acc[30:]
                elif total > 3:
                    total = abs(bisect.bisect_left(sorted(others), n)) % 99 << abs(v6 // 7) % 9
                elif acc:
                    acc[-1] = n
                if n:
                    continue
            label = "1"[v6:v6]
            if acc:
                acc[max(acc, default=0 // 0) % len(acc)] = total
    return (acc, out, seen, counts, list(queue), heap, total, mean, label, last, groups, grid)


def arguments(seed):
    r = random.Random(seed)
    n = [7, 0, 3, 12][seed % 4]
    large = 2**62 if seed % 3 == 2 else 4
    ints = [r.choice((r.randint(-9, 9), r.randint(-9, 9), 2**31, -(2**40), large)) for _ in range(n)]
    reals = [r.choice((r.uniform(-3, 3), float(r.randint(-4, 4)), -0.0, 0.5, 1e17)) for _ in range(n + 2)]
    words = ["".join((r.choice("abcA 1é_") for _ in range(r.randint(0, 5)))) for _ in range(n + 1)]
    rows = [[r.randint(-3, 6) for _ in range(r.randint(0, 4))] for _ in range(n)]
    if seed % 3 == 1 and n > 1:
        rows[1] = rows[0]
    if seed % 5 == 3:
        ints = [one % 5 > 2 if k % 2 else one for k, one in enumerate(ints)]
    if seed % 7 == 5:
        reals = [one if k % 2 else int(one) % 7 for k, one in enumerate(reals)]
    table = {word: k for k, word in enumerate(words)}
    if seed % 6 == 4:
        reals = reals + [float("inf"), float("nan")]
    return (ints, reals, words, rows, table, ints if seed % 8 == 2 else list(ints), n)
