"""Page ranks of a graph given by lists of links, on lists of floats; pages without links give to all.

Source: PageRank, as in introductions to it
Tags: graph, ragged, recurrence, conditional
Grad: no
Hand: loop over rounds, a count with weights in each
"""
import numpy as np


def slow(links, d, iters):
    n = len(links)
    pr = [1.0 / n] * n
    for _ in range(iters):
        new = [(1 - d) / n] * n
        for u in range(n):
            if len(links[u]) == 0:
                for v in range(n):
                    new[v] += d * pr[u] / n
            else:
                share = d * pr[u] / len(links[u])
                for v in links[u]:
                    new[v] += share
        pr = new
    return pr


def hand(links, d, iters):
    n = len(links)
    out = np.array([len(one) for one in links])
    source = np.repeat(np.arange(n), out)
    target = np.array([v for one in links for v in one], dtype=np.int64)
    pr, divisor = np.full(n, 1.0 / n), np.maximum(out, 1)
    for _ in range(iters):
        given = np.bincount(target, (d * pr / divisor)[source], minlength=n)
        pr = (1 - d) / n + given + d * pr[out == 0].sum() / n
    return pr.tolist()


def inputs(size="small", seed=0):
    n, iters = {"tiny": (5, 3), "small": (80, 10), "full": (1000, 20)}[size]
    r = np.random.default_rng(seed)
    return [r.integers(0, n, int(r.integers(0, 6))).tolist() for _ in range(n)], 0.85, iters
