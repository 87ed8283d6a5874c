# precision: double


def program(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = 10.0**k * d[k]
        except KeyError:
            v = 1.0
        total += v
    return total


def arguments(seed):
    return [1, 2, 3 + 100 * seed, 1], {1: 2.0, 2: 3.0}
