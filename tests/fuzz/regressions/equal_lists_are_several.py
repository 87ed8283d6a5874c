"""Two lists that are written out alike were one object in lists that are repeated and joined."""


def program(m):
    cells = [[0.0]] * m
    joined = [[0.0], [1.0]] + [[2.0]]
    pairs = 2 * [[0, 1]]
    top, level, steps = (0, 3, 0)
    while steps < 6:
        steps += 1
        try:
            if level < top:
                pass
        except IndexError:
            m = cells
    return (cells, joined, pairs)


def arguments(seed):
    return ((4, 3, 1, 0)[seed % 4],)
