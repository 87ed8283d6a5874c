"""A list of one row many times: rows that are one object, joined lists of rows, and lists of these."""


def program(m):
    cells = [[0.0]] * m
    joined = [[0.0], [1.0]] + [[2.0]]
    pairs = 2 * [[0, 1]]
    top, level, steps = 0, 3, 0
    while steps < 6:
        steps += 1
        if level < top:
            pass
    return cells, joined, pairs


def arguments(seed):
    return ((4, 3, 1, 0)[seed % 4],)
