"""`reduce` and `accumulate` began anew where their function gave None, dictionaries made values before keys."""

import functools
import itertools


def program(xs):
    out, k = [], 0
    for _ in range(2):
        out.append(functools.reduce(lambda a, b: None if b > 3 else (b if a is None else a + b), xs))
        d = {(k := k + j + 1): (k := k * 2 + j) for j in range(2)}
        for a in d:
            out.append(a * 100 + d[a])
    for v in itertools.accumulate(xs, lambda a, b: None if a is None or b > 3 else a * 2 + b):
        out.append(-1 if v is None else v)
    return out, k


def arguments(seed):
    return ([[1, 2, 5, 1], [4, 4, 4], [1], [2, 5]][seed % 4],)
