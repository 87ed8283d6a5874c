"""Names that ``:=`` binds where an expression may not get to, that are deleted, and that change their kind."""

import numpy as np
import pytest
import torch

from looplift import lift


def chosen(x):
    y, out = -1.0, []
    for i in range(len(x)):
        r = (y := x[i] * 2) if x[i] > 0 else 0.0
        out.append(y + r)
    return out, y


def asked(x):
    y, out = -1.0, []
    for i in range(len(x)):
        if x[i] > 0 and (y := x[i] * 2) < 3:
            out.append(y)
        out.append(y + 1)
    return out, y


def listed(x):
    y, s, out = 1.0, 0.0, []
    for i in range(3):
        s = s + y
        out.append([(y := v * 2 + i) for v in x])
    return out, s, y


def searched(x):
    y, out = 1.0, []
    for i in range(4):
        if any((y := v) > i for v in x):
            out.append(y)
        else:
            out.append(-y)
    return out, y


def until(x):
    n = 0
    while (v := x[n]) > -1:
        n += 1
    return n, v


def deleted(x):
    y, s = 1.0, 0.0
    for i in range(len(x)):
        s = s + y * x[i]
        if i == 1:
            del y
    return s


def defined_again(x):
    def f(v):
        return v

    out = []
    for i in range(len(x)):
        out.append(f(x[i]))

        def f(v):
            return v * 2

    return out


def begins_as_float(x):
    y, out = 1.0, []
    for i in range(3):
        for v in x:
            y = v
            if y > i:
                break
        out.append(y)
    return out, y


def summed_from(x, v=7):
    out = []
    for _ in range(3):
        s = sum((v * 2 for v in x), v)
        out.append(s)
        v = s
    return out


def next_or(x, j=7):
    out = []
    for _ in range(3):
        out.append(next((j for j in range(len(x)) if x[j] > 1), j))
        j = j + 1
    return out


def counted_from(x, first=np.uint8(255)):
    return [(k, v) for k, v in enumerate(x, first)]


def told(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return repr(error)


VALUES = [[1.0, 2.0, -3.0], [1, 2, 3, -1], [1.0, 2, True], [True, False], [], [0.5, -0.5]]


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize(
    "loop",
    [
        chosen,
        asked,
        listed,
        searched,
        until,
        deleted,
        defined_again,
        begins_as_float,
        summed_from,
        next_or,
        counted_from,
    ],
    ids=lambda f: f.__name__,
)
def test_names_hold_what_they_hold_in_the_loop(loop, backend):
    lifted = lift(loop, verify="off", backend=backend)
    for values in VALUES:
        for made in (list, np.array, torch.tensor):
            assert told(lifted, made(values)) == told(loop, made(values))


def test_keys_that_are_not_known_may_be_one():
    def sums(x):
        out = []
        for i in range(len(x)):
            d = dict(((x[i], 1), (i, 2)))
            out.append(sum(d.values()))
        return out

    lifted = lift(sums, verify="off")
    for x in ([7, 8, 9], [0, 5, 2]):
        assert lifted(x) == sums(x)


def largeness(v):
    return abs(v) + 1


def test_builtins_of_helpers_may_be_shadowed_later(monkeypatch):
    def every(x):
        return [largeness(x[i]) for i in range(x.shape[0])]

    x = torch.tensor([-1.0, 2.0])
    lifted = lift(every, verify="off")
    assert repr(lifted(x)) == repr(every(x))
    monkeypatch.setitem(globals(), "abs", lambda v: v * 10)
    assert repr(lifted(x)) == repr(every(x)) == "[tensor(-9.), tensor(21.)]"
    monkeypatch.undo()
    assert repr(lifted(x)) == repr(every(x)) == "[tensor(2.), tensor(3.)]"


def test_nan_is_found_as_the_object_that_it_is():
    def found(x, k):
        out = []
        for i in range(len(x)):
            out.append(x[i] in (k, 3))
            out.append((x[i], i) == (k, i))
        return out

    nan = float("nan")
    for backend in ("torch", "native"):
        lifted = lift(found, verify="off", backend=backend)
        for x, k in (([1.0, 2.0], 2.0), ([nan, 3.0], nan), ([float("nan"), 2.0], nan), ([1, 2], 2)):
            assert lifted(x, k) == found(x, k)
