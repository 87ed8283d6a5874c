# precision: double
def program(xs):
    n = 0
    for x in xs:
        n = n * 3 % 1000003 + (1 if x in xs else 0) + 10 * xs.count(x)
    for x in xs:
        for y in xs:
            n = n * 2 % 1000003 + ((x, 1) == (y, 1))
    return n


def arguments(seed):
    nan = float("nan")
    return ([[None, nan, 1.0, None], [nan, None, nan], [None, 1.0, 2.0], [nan, float("nan"), None], [1.0]][seed],)
