"""Lists that are arguments are made before what stands behind them; sets made beforehand are sets, defaults those of
the function."""

import functools
from typing import Any

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def summed_from(xs, n):
    total, c = 0, 1
    for _ in range(n):
        total += sum([(c := c + v) for v in xs], c)
        total += sum([(c := c - 1) for _ in xs], start=c * 2)
    return total, c


def reduced_from(xs, n):
    total, c = 0, 1
    for _ in range(n):
        total += functools.reduce(lambda a, b: a * 2 + b, [(c := c + v) for v in xs], c)
    return total, c


def greatest_by_what_is_bound(xs, n):
    out = []
    for _ in range(n):
        out.append(max([(n := n + v) for v in xs], key=lambda v, n=n: -v * n, default=0))
        out.append(max([(n := n + v) for v in (1, *xs)], key=lambda v: (v - n) * (v - n)))
        out.append(min([(n := n - 1) for _ in (1, *xs)], key=lambda v: -v * n))
    return out, n


def say(v):
    print("made", v)
    return v


def told(v):
    print("asked", v)
    return -v


def greatest_by_what_is_told(xs, n):
    out = []
    for _ in range(n):
        out.append(max([say(v) for v in (1, *xs)], key=told))
        out.append(max((say(v) for v in (1, *xs)), key=told))
    return out


def first_or_changed(xs, n):
    out, c = [], 0
    for i in range(n):
        out.append(next((c + x for x in xs if x > i), (c := c + 1)))
    return out, c


FUNCTIONS = (summed_from, reduced_from, greatest_by_what_is_bound, greatest_by_what_is_told, first_or_changed)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_order(function, backend, capsys):
    lifted: Any = lift(function, backend=backend, verify="off")
    for xs in ([1, 2], [3, -1, 4], [7], [2, 2, 5, -6]):
        for n in (3, 0, 1):
            want = function(xs, n), capsys.readouterr().out
            assert (lifted(xs, n), capsys.readouterr().out) == want


def summed_from_what_changes(x):
    out = []
    for _ in range(3):
        out.append(sum((v.item() for v in x * 2), x.add_(1).sum().item()))
    return out


def found_or_what_changes(x):
    out = []
    for _ in range(3):
        out.append(next((v.item() for v in x * 2 if v > 5), x.add_(1).sum().item()))
    return out


def reduced_from_what_changes(x):
    out = []
    for _ in range(3):
        out.append(functools.reduce(lambda a, b: a * 0.5 + b.item(), x * 2, x.add_(1).sum().item()))
    return out


def least_of_pairs_that_change(x):
    out = []
    for _ in range(3):
        out.append(sum(map(float, x + 1), x.mul_(2)[0].item()))
    return out


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [summed_from_what_changes, found_or_what_changes, reduced_from_what_changes, least_of_pairs_that_change],
)
def test_arguments_that_change_what_others_read(function, backend):
    x, y = torch.tensor([-3.0, -2.0, 0.5]), torch.tensor([-3.0, -2.0, 0.5])
    lifted: Any = lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert lifted(x) == function(y)
        assert torch.equal(x, y)


def compared(xs, ys, x):
    out = []
    for i in range(3):
        out.append(float(x[i]) if set(xs) == set(ys) else 0.0)
        if frozenset(xs) < set(ys) or set(ys) == xs:
            out.append(i)
    return out


def asked_for_its_type(xs, ys, x):
    s, total = set(xs), 0.0
    for i in range(2):
        if isinstance(s, list):
            total += float(x[i])
        if isinstance(s, set):
            total -= float(x[i])
    return total


def shown(xs, ys, x):
    s, out = set(xs), []
    for i in range(2):
        out.append(f"{i} {s}")
        print(i, s)
    return out


def handed_out(xs, ys, x):
    s, out = frozenset(xs), []
    for i in range(2):
        out.append((i in s, s))
    return out, s


def subscripted(xs, ys, x):
    s, total = set(xs), 0.0
    for i in range(2):
        total += float(x[i]) * s[0]
    return total


def of_one_more(xs, ys, x):
    total = 0.0
    for i in range(3):
        total += float(x[i]) * len(set(xs) | set(ys)) + len(set(xs) - {i})
    return total


def only_read(xs, ys, x):
    s, out = set(xs), torch.zeros(5)
    for i in range(5):
        if i in s and i not in frozenset(ys):
            out[i] = x[i] * len(s)
    return out.tolist()


def used_as_a_whole(xs, ys, x):
    s, total = set(xs), 0.0
    for i in range(3):
        total += float(x[i]) * (sum(s) + max(s) - min(s)) + sum(v * i for v in s)
        for v in s:
            total += v
        for v in sorted(s):
            total = total * 0.5 + v
        if s:
            total += len(list(s))
    return total


SETS = (compared, asked_for_its_type, shown, handed_out, subscripted, of_one_more, only_read, used_as_a_whole)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", SETS)
def test_sets_are_sets(function, backend, capsys):
    def of(call, *given):
        try:
            return call(*given), capsys.readouterr().out
        except TypeError as error:
            return str(error), ""

    lifted: Any = lift(function, backend=backend, verify="off")
    x = torch.arange(5.0)
    for xs, ys in (([8, 0], [0, 8]), ([2], [1, 2]), ([3, 1, 3], [3]), ([4, 16, 0], [16, 0, 4])):
        want = of(function, xs, ys, x)
        assert of(lifted, xs, ys, x) == want


@pytest.mark.parametrize("function", [only_read, used_as_a_whole])
def test_loops_that_read_sets_are_lifted(function):
    lifted: Any = lift(function, verify="off")
    lifted([1, 3], [3], torch.arange(5.0))
    assert lifted.report().loops[0].decision != "kept"


def counted(n, k=3, *, shift=0):
    for i in range(n):
        yield i * k + shift


def over_a_generator_function(x):
    total = 0.0
    for v in counted(4):
        total += v * float(x[0])
    for v in counted(2, shift=1):
        total += v * float(x[1])
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_defaults_are_those_of_the_function(backend, monkeypatch):
    lifted: Any = lift(over_a_generator_function, backend=backend, verify="off")
    x = torch.arange(1.0, 3.0)
    for defaults, named in (
        ((5,), {"shift": 2}),
        ((3,), {"shift": 0}),
        ((2, 7), {"shift": -1}),
        ((True,), {"shift": 1.5}),
    ):
        monkeypatch.setattr(counted, "__defaults__", defaults)
        monkeypatch.setattr(counted, "__kwdefaults__", named)
        assert lifted(x) == over_a_generator_function(x)
    monkeypatch.setattr(counted, "__kwdefaults__", None)
    with pytest.raises(TypeError, match="shift"):
        lifted(x)
