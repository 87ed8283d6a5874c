import math


def scaled_by(factor):
    return lambda value: value * factor


def program(helper, xs):
    out = []
    for x in xs:
        out.append(math.copysign(1.0, helper(x)))
    return out


def arguments(seed):
    return scaled_by((0.0, -0.0)[seed % 2]), [1.0, 2.0, -3.0]
