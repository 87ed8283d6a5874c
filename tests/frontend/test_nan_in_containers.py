"""NaN in tuples and lists: containers take the same object for equal, whatever '==' says of it."""

import math

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")
NAN = math.nan
LIMITS = (math.nan, 1.0)


def carried(xs):
    last, out = math.nan, []
    for x in xs:
        out.append(3 if last in (2.0, math.nan) else 4)
        last = x
    return out


def pairs(xs):
    out = []
    for x in xs:
        out.append(5 if (NAN, x) == (NAN, x) else 6)
    return out


def others(xs):
    out = []
    for x in xs:
        out.append(5 if (NAN, 2.0) != (x, 2.0) else 6)
    return out


def named(xs):
    out = []
    for x in xs:
        limits = [NAN, x]
        out.append((x in limits, x not in LIMITS, NAN in limits, NAN in (1.0, x), float("nan") in (x, NAN)))
    return out


def searched(xs):
    out = []
    for k in range(len(xs)):
        out.append(math.nan in xs[k:] if k % 2 else xs.count(NAN))
    return out


def rows(xs):
    out = torch.zeros(len(xs))
    for i in range(len(xs)):
        out[i] = 2.0 if (xs[i], i) == (NAN, i) else 3.0
    return out


def array(xs):
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        out[i] = 2.0 if xs[i] in (NAN, 1.0) else 3.0
    return out


FLOATS = [[1.0, NAN, 2.5], [float("nan"), 1.0], [2.0, 3.0, NAN], [4.0, 5.0, 1.0]]
MAKES = [(one, FLOATS) for one in (carried, pairs, others, named, searched)]
MAKES += [(rows, list(map(torch.tensor, FLOATS))), (array, list(map(np.array, FLOATS)))]
MAKES += [(pairs, [[1, 2], [3, 4, 5]]), (others, [[1, 2], [3]])]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "given"), MAKES)
def test_containers_with_nan(function, given, backend):
    lifted = lift(function, backend=backend, verify="off")
    for xs in (*given, *reversed(given)):
        want, got = function(xs), lifted(xs)
        if isinstance(want, list):
            assert got == want and list(map(type, got)) == list(map(type, want))
        else:
            assert type(got) is type(want) and got.tolist() == want.tolist()
