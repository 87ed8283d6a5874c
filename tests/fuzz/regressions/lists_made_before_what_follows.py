"""A list that is an argument is made before the argument behind it is evaluated, and before a key is called."""

import functools


def program(xs, n):
    out, c = [], 1
    for _ in range(n):
        out.append(sum([(c := c + v) for v in xs], c))
        out.append(functools.reduce(lambda a, b: a * 2 + b, [(c := c + v) for v in xs], c))
        out.append(max([(c := c - v) for v in xs], key=lambda v, c=c: -v * c))
    return out, c


def arguments(seed):
    return [[1, -2], [3, 1, 4], [5]][seed % 3], seed % 4
