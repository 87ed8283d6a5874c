"""All rows of the list are one list."""


def program(n):
    cells = [[0] * 2] * n
    for i in range(n):
        cells[i][i % 2] += i + 1
    return cells


def arguments(seed):
    return (4 - seed,)
