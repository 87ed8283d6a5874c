"""`sorted(xs, reverse=f(xs))`, `deque(xs, maxlen=f(xs))` and `np.full(f(xs), g(xs))` ran in an order of their own."""

import collections

import numpy as np


def longer(xs):
    xs.append(len(xs) * 7 % 5)
    return 1 + len(xs) % 3


def program(xs, n):
    found = []
    for _ in range(n):
        found.append(sorted(xs, reverse=longer(xs) > 1))
        found.append(list(collections.deque(xs, maxlen=longer(xs))))
        found.append(np.full(longer(xs), longer(xs)))
    return found


def arguments(seed):
    return [3 + seed, 1, 2], [4, 1, 0, 2][seed % 4]
