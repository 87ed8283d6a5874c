"""Items of containers that are numbers at first and tensors once something is added to them: ``mean[j] += x[i, j]``."""

import copy
from dataclasses import dataclass

import pytest
import torch

from looplift import lift


def mean_cols(x):
    n, m = x.shape
    mean = [0.0] * m
    for j in range(m):
        for i in range(n):
            mean[j] += x[i, j]
        mean[j] = mean[j] / n
    return mean


def mean_cols2(x):
    n, m = x.shape
    mean = [0.0] * m
    for i in range(n):
        for j in range(m):
            mean[j] += x[i, j]
    return mean


def acc3(x):
    n = x.shape[0]
    acc = [[0.0, 0.0] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            acc[i][0] += x[i] - x[j]
            acc[i][1] += x[i] * x[j]
    return acc


def sums(keys, v):
    s = {}
    for i in range(len(keys)):
        k = keys[i]
        if k not in s:
            s[k] = 0.0
        s[k] += v[i]
    return s


def alias(x):
    acc = [0.0, 0.0]
    seen = []
    for i in range(x.shape[0]):
        acc[i % 2] += x[i]
        seen.append(acc[0])
        acc[1 - i % 2] *= 2
    return acc, seen


def shared(x):
    acc = [0.0, 0.0, 0.0]
    t = x[0] * 1
    for i in range(x.shape[0]):
        if i == 1:
            acc[1] = t
        if i == 2:
            acc[2] = t
        acc[i % 3] += x[i]
    return acc, t


def kinds(x, y):
    acc = [0, 0.5, 2]
    for i in range(x.shape[0]):
        acc[i % 3] += x[i]
        acc[i % 3] *= y[i]
    return acc


def nested(x):
    d = {}
    for i in range(x.shape[0]):
        k = i % 3
        if k not in d:
            d[k] = [0.0, 0]
        d[k][0] += x[i]
        d[k][1] += 1
    return {k: v[0] / v[1] for k, v in d.items()}


def given(x, acc):
    for i in range(x.shape[0]):
        acc[i % len(acc)] += x[i]
    return acc


@dataclass
class State:
    place: float
    speed: float


def bouncing(places, speeds):
    out = []
    for i in range(len(places)):
        s = State(places[i] * 1, speeds[i] * 1)
        for _ in range(7):
            s.place += s.speed * 0.1
            s.speed -= 0.98
            if s.place < 0:
                s.place = -s.place
                s.speed = -0.9 * s.speed
        out.append(s.place)
    return torch.stack(out)


class Both:
    def __init__(self, first):
        self.first = first
        self.second = first


def one_tensor(x):
    both = Both(x[0] * 2)
    for i in range(len(x)):
        both.first += x[i]
    return both.first, both.second


def numbers_at_first(x):
    out = []
    for row in x:
        both = Both(0.5)
        for v in row:
            both.first += v
            both.second *= 2
        out.append(both.first * both.second)
    return torch.stack(out)


def two_objects(x, a, b):
    for i in range(len(x)):
        a.first += x[i]
        b.second *= 2
    return a.first, b.second


def of(*shape, dtype=torch.float32):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 4
    return values.to(dtype)


FLOATS, WHOLE = of(7), of(7, dtype=torch.int64)
CALLS = [
    (mean_cols, (of(5, 3),)),
    (mean_cols2, (of(5, 3),)),
    (acc3, (of(4),)),
    (acc3, (of(4, 2),)),
    (sums, ([1, 2, 1, 3, 2], of(5))),
    (sums, ([7, 2, 7], of(3, 4))),
    (nested, (FLOATS,)),
    (nested, (WHOLE,)),
    (alias, (FLOATS,)),
    (shared, (FLOATS,)),
    (shared, (WHOLE,)),
    (kinds, (FLOATS, of(7) + 1)),
    (kinds, (WHOLE, of(7))),
    (kinds, (FLOATS, of(7).double())),
    (given, (FLOATS, [0.0, 0.0])),
    (given, (FLOATS, [0.0, torch.zeros(())])),
    (given, (FLOATS, [torch.ones(()), torch.zeros(())])),
    (bouncing, (of(5).abs(), of(5))),
    (bouncing, (of(5).abs().double(), of(5))),
    (one_tensor, (FLOATS,)),
    (one_tensor, (WHOLE,)),
    (numbers_at_first, (of(4, 3),)),
    (numbers_at_first, (of(4, 3).long(),)),
]


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return f"{type(error).__name__}: {error}", arguments


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda one: getattr(one, "__name__", ""))
def test_items_become_tensors_or_change_themselves(function, arguments):
    got, want = (outcome(one, arguments) for one in (lift(function, verify="off"), function))
    if isinstance(want[0], str):
        assert got[0] == want[0]
        got, want = got[1], want[1]
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("function", "arguments"), [CALLS[0], CALLS[2], CALLS[4], CALLS[6]])
def test_their_gradients(function, arguments):
    given_ = [a.clone().requires_grad_() if torch.is_tensor(a) else a for a in arguments]
    lifted = lift(function, verify="off")
    gradients = []
    for one in (lifted, function):
        made = one(*given_)
        values = list(made.values()) if isinstance(made, dict) else made
        flat = [v for row in values for v in (row if isinstance(row, list) else [row])]
        (tensor,) = (a for a in given_ if torch.is_tensor(a))
        gradients.append(torch.autograd.grad(sum((v * v).sum() for v in flat), tensor)[0])
    torch.testing.assert_close(*gradients)
    assert "kept" not in str(lifted.report())


def test_objects_that_hold_one_tensor():
    outcomes = []
    for function in (lift(two_objects, verify="off"), two_objects):
        tensor = torch.ones(())
        a, b = Both(tensor), Both(tensor)
        outcomes.append((*function(FLOATS, a, b), tensor, a.second, b.first))
    torch.testing.assert_close(*outcomes)


@pytest.mark.parametrize(("function", "arguments"), [(bouncing, (of(5).abs(), of(5))), (numbers_at_first, (of(4, 3),))])
def test_loops_of_objects_are_lifted(function, arguments):
    lifted = lift(function, verify="off")
    torch.testing.assert_close(lifted(*arguments), function(*arguments))
    assert "kept" not in str(lifted.report())
