# precision: double
import itertools
import math


def program(xs):
    total = 0.0
    for v in itertools.islice(map(math.sqrt, xs), 1, None):
        total = total * 0.5 + v
    return total


def arguments(seed):
    return ([seed - 2.0, 4.0, 9.0, 1.0],)
