"""What a loop had computed before it raised was lost where a ``finally`` around it leaves by ``break``."""


def program(xs):
    total = 0
    for k in range(2):
        try:
            for x in xs:
                total += 10 // x + k
        finally:
            break
    return total


def arguments(seed):
    return ([[3, 1, 2], [5, 0, 1], [], [2, 2, 0]][seed % 4],)
