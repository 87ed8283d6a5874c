"""A key that a defaultdict lacks raised no KeyError in the loop, but its handler ran in batched code."""

from collections import defaultdict


def program(counts, keys):
    out = []
    for k in keys:
        try:
            v = counts[k]
        except KeyError:
            v = -1
        out.append(v * 2)
    return out, dict(counts)


def arguments(seed):
    return defaultdict([int, None, lambda: 7][seed % 3], {1: 2, 2: 5}), [[1, 3, 2], [1, 2], [4, 4]][seed % 3]
