import math


def program(xs):
    last, out = math.nan, []
    for x in xs:
        out.append(1 if last in (2.0, math.nan) else 0)
        out.append(1 if (math.nan, x) == (math.nan, x) else 0)
        last = x
    return out


def arguments(seed):
    return ([1.0, 2.0, float(seed)],)
