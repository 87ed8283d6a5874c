"""Names and values that loops in place of calls make up: names are no names of the author's, and None is a value."""

import functools
import itertools
from typing import Any

import pytest

from looplift import lift

BACKENDS = ("auto", "torch", "native")
NUMBERED = [f"_{word}_{k}" for word in ("item", "i", "stop", "total", "key", "best", "top", "score") for k in range(9)]
SOURCE = f"""
import functools, itertools
def helper(v):
    _result_1 = _result_2 = _stop_3 = _stop_4 = 3
    if v > 2:
        return v * _result_1
    return _stop_3 + v + _result_2 - _stop_4
def program(xs):
    {" = ".join(NUMBERED)} = 5
    _item, total = 100, 0
    for x in xs:
        if x > 3:
            break
        total += x * _stop_1 + _stop_2 + _stop_4 + helper(x)
        total += max(xs, key=lambda v: v * _item_1 - _score_1 + _top_2 * _best_1) + _key_1
        total += functools.reduce(lambda a, b: a + b * _total_1 + _item_2, xs)
        total += sum(map(lambda v: v + _item, xs)) + sum(range(_item_3))
        for i, j in itertools.product(range(2), range(_item_4)):
            total += i * _i_1 + j * _i_2 + _item
    return total, _item, [{", ".join(NUMBERED)}]
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_the_author(backend, tmp_path):
    path = tmp_path / "named_as_made_up.py"
    path.write_text(SOURCE)
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(SOURCE, str(path), "exec"), namespace)
    lifted = lift(namespace["program"], backend=backend, verify="off")
    for xs in ([1, 2], [2, 5, 1], [3], [], [5, 1]):
        assert lifted(xs) == namespace["program"](xs)
    assert any(one.decision != "kept" for one in lifted.report().loops)


def reduced_to_none(xs):
    out = []
    for _ in range(3):
        out.append(functools.reduce(lambda a, b: None if b > 3 else (b if a is None else a + b), xs) or -7)
        out.append(functools.reduce(lambda a, b: None, xs) is None)
    return out


def accumulated_to_none(xs):
    out = []
    for v in itertools.accumulate(xs, lambda a, b: None if a is None or b > 3 else a * 2 + b):
        out.append(-1 if v is None else v)
    for k, v in enumerate(itertools.accumulate(xs, lambda a, b: None if b > 3 else b)):
        out.append(k if v is None else v)
    return out


def greatest_by_none(xs):
    out = []
    for _ in range(2):
        out.append(max(xs, key=lambda v: None if v > 3 else v))
    return out


def plain_ones(xs):
    out = []
    for k in range(2):
        out.append(functools.reduce(lambda a, b: a if a > b else b + k, xs))
        out.append(max(xs, key=lambda v: -v if v > 2 else v))
    for v in itertools.accumulate(xs, lambda a, b: a * 2 + b):
        out.append(v)
    return out


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [reduced_to_none, accumulated_to_none, greatest_by_none, plain_ones])
def test_none_is_a_value(function, backend):
    def of(call, xs):
        try:
            return call(xs)
        except (TypeError, ValueError) as error:
            return str(error)

    lifted: Any = lift(function, backend=backend, verify="off")
    for xs in ([1, 2, 5, 1], [4, 4, 4], [1], [5, 1], [1, 5], [2, 3, 1]):
        assert of(lifted, xs) == of(function, xs)
    if function is plain_ones and backend != "torch":
        assert all(one.decision != "kept" for one in lifted.report().loops)


def keys_before_values(n):
    out, k = [], 0
    for _ in range(n):
        d = {(k := k + j + 1): (k := k * 2 + j) for j in range(2)}
        for a in d:
            out.append(a * 100 + d[a])
    return out, k


def said(v):
    print(v)
    return v


def keys_said_before_values(n):
    out = []
    for i in range(n):
        d = {said(j): said(j * 10 + i) for j in range(2)}
        out.append(d[1])
    return out


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [keys_before_values, keys_said_before_values])
def test_keys_are_made_before_values(function, backend, capsys):
    lifted: Any = lift(function, backend=backend, verify="off")
    for n in (3, 1, 0, 4):
        want = function(n), capsys.readouterr().out
        assert (lifted(n), capsys.readouterr().out) == want
