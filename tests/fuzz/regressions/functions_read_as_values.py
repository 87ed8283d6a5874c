# precision: double
"""A function that is made here is handed on, and a name of one is bound only where nothing comes by."""


def program(lo, hi, n):
    f = lambda x: x**3 - x - 2
    moves, used = [], None

    def go(k, a):
        if k <= 0:
            return
            names += k  # noqa: F821
        go(k - 1, a + 1)
        moves.append((k, a))
        if k > 3:
            names.append(k)

    while hi - lo > 0.1:
        mid = (lo + hi) / 2
        if f(lo) * f(mid) < 0:
            hi = mid
        else:
            lo = mid
            used = f
    go(n, 0)
    return lo, hi, moves, used is None


def arguments(seed):
    return [(1, 2, 2), (0, 1, 4), (1.0, 2.0, 1), (1.5, 1.55, 0)][seed % 4]
