"""A complex literal to which real numbers are added stays complex in kernels."""


def program(count):
    z, w = 0j, 1 + 0j
    total = 0.0
    for i in range(count):
        z += total
        for k in range(count):
            w += total
        total += i
    return z, abs(w), total


def arguments(seed):
    return ((5, 3, 1, 0)[seed % 4],)
