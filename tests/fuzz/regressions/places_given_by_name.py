# precision: double
def parts(v, /, n=2):
    for i in range(n):
        yield v * i


def program(xs):
    total = 0.0
    for v in xs:
        for part in parts(v=v):
            total += part
    return total


def arguments(seed):
    return ([0.5, 1.5 + seed, -2.0],)
