import math


def scaled_by(factor):
    return lambda value: value * factor


def signs(helper, xs):
    out = []
    for x in xs:
        out.append(math.copysign(1.0, helper(x)))
    return out


def program(factor, xs):
    return signs(scaled_by(factor), xs)


def arguments(seed):
    return (0.0, -0.0)[seed % 2], [1.0, 2.0, -3.0]
