"""Functions of NumPy's of rows that are formulas of simpler ones, in typed programs: the same bits and dtypes."""

import linecache

import numpy as np
import pytest
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]

ROWS = (
    "np.cumsum(x[k])[-1]", "np.cumprod(x[k])[2]", "np.diff(x[k]).sum()", "np.roll(x[k], 1)[0]", "np.roll(x[k], -k)[1]",
    "np.flip(x[k])[0]", "np.sort(x[k])[k % 4]", "np.outer(x[k], w)[1, 2]", "np.concatenate([x[k], w])[5]",
    "np.concatenate((w, x[k], w)).sum()", "np.append(x[k, 0], x[k, 1:] - w[:-1])[2]", "np.append(w, x[k]).sum()",
    "np.append(w, 0.25)[4]", "np.append(n[k % 4], n)[0]",
    "np.tile(x[k], 3)[6]", "np.repeat(x[k], 2)[3]", "np.var(x[k])", "np.std(x[k])", "np.std(x[:, k % 4])",
    "np.square(x[k]).sum()", "np.sqrt(np.abs(x[k])).sum()", "np.floor(x[k])[1]", "np.ceil(x[k]).sum()",
    "np.isnan(x[k]).any()", "np.cumsum(x[:, 1])[k]", "np.cumsum(n)[k % 4]", "np.diff(n)[0]", "np.sort(n)[1]",
    "np.unique(n)[0]", "np.unique(n).sum()", "np.bincount(n)[1]", "np.bincount(n).sum()",
    "np.roll(n, k)[0]", "np.flip(n)[0]", "np.repeat(n, 2)[5]", "np.concatenate([n, n]).sum()",
)  # fmt: skip


def row_program(expression):
    text = "\n    ".join((
        "def program(x, w, n):", "memo = {-1: 0.0}", "for k in range(len(x)):",
        f"    memo[k] = memo[k - 1] * 0.5 + {expression}", "return [memo[k] for k in range(len(x))]",
    ))  # fmt: skip
    name = f"<a row of NumPy: {expression}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"np": np}
    exec(compile(text, name, "exec"), known)
    return known["program"]


def made(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 4)), rng.normal(size=4), np.array([2, 0, 1, 2])


@pytest.mark.parametrize("expression", ROWS)
def test_functions_of_rows(expression, first):
    runs_as_program(row_program(expression), *(lambda place=place: made()[place] for place in range(3)))


@pytest.mark.parametrize("expression", ["np.sort(x[k])[1]", "np.cumsum(x[k])[-1]", "np.var(x[k])", "np.diff(x[k])[0]"])
@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), float("inf"), 1e308])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_numbers(expression, value, first):
    x, w, n = made()
    x[1, :2] = x[2, 1] = value
    x[3, 0], x[3, 2] = -value, value
    function = row_program(expression)
    lifted = lift(function, verify="off")
    for _ in range(2):
        got, wanted = lifted(x, w, n), function(x, w, n)
        assert [(type(one), float(one).hex()) for one in got] == [(type(one), float(one).hex()) for one in wanted]


def test_long_rows_are_added_as_numpy_adds_them(first):
    x = np.random.default_rng(0).normal(size=(3, 1000))
    for expression in ("np.var(x[k])", "np.std(x[k, ::2])", "np.cumsum(x[k])[-1]", "np.cumprod(x[k, :90])[-1]"):
        function = row_program(expression)
        got, wanted = lift(function, verify="off")(x, x, x), function(x, x, x)
        assert [float(one).hex() for one in got] == [float(one).hex() for one in wanted]


def test_what_is_stored_later_is_seen_by_views_alone(first):
    def program(rows):
        found = {}
        for k in range(len(rows)):
            turned, moved, ordered = np.flip(rows[k]), np.roll(rows[k], 1), np.sort(rows[k])
            rows[k, 0] = 7.0
            found[k] = float(turned[-1]), float(moved[1]), float(ordered[0])
        return found

    runs_as_program(program, lambda: made()[0])


@pytest.mark.parametrize(
    "expression",
    [
        "np.diff(x[k, :1]).sum()", "np.roll(x[k, :0], 1).sum()", "np.cumsum(x[k, :0]).sum()", "np.var(n)",
        "np.cumsum(x).sum()", "np.sort(x, axis=0)[1, 1]",
    ],
)  # fmt: skip
def test_others_are_left_to_the_loop(expression, first):
    runs_as_program(row_program(expression), *(lambda place=place: made()[place] for place in range(3)), program=None)


def test_rows_of_other_lengths_with_a_number_in_front(first):
    def filtered(clips):
        ends = []
        for clip in clips:
            sharp = np.append(clip[0], clip[1:] - 0.97 * clip[:-1])
            state = 0.0
            for value in sharp:
                state = 0.9 * state + value
            ends.append(state)
        return np.array(ends)

    clips = [np.random.default_rng(k).normal(size=9 + 3 * k) for k in range(6)]
    lifted = lift(filtered, verify="off")
    for _ in range(2):
        assert lifted(clips).tobytes() == filtered(clips).tobytes()
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_joined_with_a_number_of_another_dtype(first):
    def joined(rows):
        found = {}
        for k in range(len(rows)):
            found[k] = np.append(rows[k], 0.1)
        return [found[k] for k in range(len(rows))]

    for dtype in (np.float32, np.int32, np.float64):
        rows = (np.arange(6).reshape(2, 3) * 1.5).astype(dtype)
        lifted = lift(joined, verify="off")
        for got, wanted in zip(lifted(rows), joined(rows), strict=True):
            assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()
