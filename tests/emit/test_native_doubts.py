"""What NumPy warns of, in kernels that look for it at their end."""

import warnings

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.emit import native_doubts


def scaled(x, out, factor):
    for i in range(len(x)):
        out[i] = x[i] * factor + 1.0
    return out


def never_used(x, out, factor):
    for i in range(len(x)):
        t = x[i] * factor  # noqa: F841
        out[i] = x[i]
    return out


def seldom_used(x, out, factor):
    for i in range(len(x)):
        t = x[i] * factor
        if x[i] > 1e300:
            out[i] = t * 0.5
        elif x[i] < 0:
            out[i] = t
    return out


def last_one(x, out, factor):
    t = x[0]
    for i in range(len(x)):
        t = x[i] * factor
    out[0] = t
    return out


def hidden_by_a_quotient(x, out, factor):
    for i in range(len(x)):
        out[i] = 1.0 / (x[i] * factor)
    return out


def hidden_by_a_minimum(x, out, factor):
    for i in range(len(x)):
        out[i] = min(abs(x[i] * factor), 3.0)
    return out


def overwritten(x, out, factor):
    for i in range(len(x)):
        out[i] = x[i] * factor
        out[i] = 0.0
    return out


def differences(x, out, factor):
    for i in range(1, len(x)):
        out[i] = (x[i] - x[i - 1]) / (x[i] + x[i - 1]) + out[i - 1] * factor
    return out


def summed(x, out, factor):
    total = x[0] * 0.0
    for i in range(len(x)):
        total = total + x[i] * factor
    out[0] = total
    return out


def powers(x, out, factor):
    for i in range(len(x)):
        y = x[i]
        k = 0
        while abs(y) < 1e3 and k < 5:
            y = y * factor
            k += 1
        out[i] = y
    return out


def for_nothing(x, out, factor):
    made = np.zeros(len(x))
    for i in range(len(x)):
        made[i] = x[i] * factor
        out[i] = x[i]
    return out


def one_place(x, out, factor):
    for i in range(len(x)):
        out[0] = x[i] * factor
    return out


def grown(x, out, factor):
    for i in range(len(x)):
        for j in range(len(x)):
            out[i] += x[j] * factor
    return out


def grown_and_replaced(x, out, factor):
    for i in range(len(x)):
        out[0] += x[i] * factor
        out[0] = 0.0
    return out


def replaced_and_grown(x, out, factor):
    for i in range(len(x)):
        out[0] = 0.0
        out[0] += x[i] * factor
        out[i] = 1.0
        out[i] *= x[i] * factor
        out[i] = 2.0
    return out


def grown_for_nothing(x, out, factor):
    made = np.zeros(2)
    for i in range(len(x)):
        made[0] += x[i] * factor
        out[i] = x[i]
    return out


def on_both_sides(x, out, factor):
    for i in range(len(x)):
        t = x[i] * factor
        u = t * 2.0
        if x[i] > 0:
            out[i] = t
        elif x[i] > -1e300:
            out[i] = -t
        else:
            out[i] = u
    return out


def on_one_side(x, out, factor):
    for i in range(len(x)):
        t = x[i] * factor
        if x[i] < 10:
            if x[i] > 0:
                out[i] = t
            else:
                out[i] = -t
    return out


PROGRAMS = (
    scaled, never_used, seldom_used, last_one, hidden_by_a_quotient, hidden_by_a_minimum, overwritten, differences,
    summed, powers, for_nothing, one_place, grown, grown_and_replaced, replaced_and_grown, grown_for_nothing,
    on_both_sides, on_one_side,
)  # fmt: skip
VALUES = {
    "plain": [1.0, 2.0, -3.0, 0.5],
    "large": [1.0, 1e308, -1e308, 2.0],
    "infinite": [1.0, np.inf, 2.0, np.inf],
    "both infinities": [np.inf, -np.inf, np.inf, 1.0],
    "no number": [np.nan, 1.0, np.nan, 2.0],
    "zeros": [0.0, 0.0, -0.0, 1.0],
    "none": [],
}


def seen(function, *arguments):
    """The result, what happened to the arguments, the kinds of warnings and the exception."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
        except Exception as error:
            result = repr(error)
    return repr(result), repr(arguments), {str(one.message) for one in caught}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", PROGRAMS)
def test_warnings_are_the_loops(function, dtype):
    lifted = lift(function, backend="native", verify="off")
    for _ in range(2):
        for values in VALUES.values():
            for factor in (10.0, 0.0, 1e-3):
                with np.errstate(over="ignore"):
                    x = np.array(values).astype(dtype)
                out = np.full((max(len(x), 1), 2), 7.0, dtype)
                expected = seen(function, x.copy(), out.copy()[:, 0], factor)
                assert seen(lifted, x.copy(), out.copy()[:, 0], factor) == expected


def tables(x, n):
    best = np.full(n, np.inf)
    for i in range(n):
        for j in range(i):
            best[i] = min(best[i], x[j] + x[i])
    return best + x


@pytest.mark.parametrize("times", [1, 2, 6])
def test_infinite_numbers_are_nothing_to_warn_of(times):
    lifted = lift(tables, backend="native", verify="off")
    for _ in range(times):
        x = np.array([np.inf, 1.0, -2.0, np.inf, 3.0])
        assert seen(lifted, x, 5) == seen(tables, x, 5)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_what_is_surely_looked_at_is_told_from_what_may_not_be():
    text = kernel_of(seldom_used)
    assert "doubt.found(t_2, " in text and "doubt.used(t_3, " in text
    assert "doubt.used(" in kernel_of(scaled)
    assert "doubt.later(" in kernel_of(scaled)
    assert "doubt.found(" in kernel_of(never_used) and "doubt.found(" in kernel_of(last_one)


def kernel_of(function):
    lifted = lift(function, backend="native", verify="off")
    lifted(np.ones(3), np.ones(3), 2.0)
    return lifted.source


def test_processors_that_note_nothing(monkeypatch):
    """The other way to find doubts."""
    from looplift.emit import native_prelude

    text = native_doubts.DOUBTS["Doubt"].replace("__SSE2__", "NO_PROCESSOR")
    monkeypatch.setitem(native_prelude.PIECES, "Doubt", text)
    for function in PROGRAMS:
        lifted = lift(function, backend="native", verify="off")
        for values in VALUES.values():
            x, out = np.array(values), np.full(max(len(values), 1), 7.0)
            assert seen(lifted, x.copy(), out.copy(), 10.0) == seen(function, x.copy(), out.copy(), 10.0)


def column_totals(x, out):
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = 0.5 * out[i - 1, j] + x[i, j]
    return out


@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_elements_that_are_not_next_to_each_other(make):
    lifted = lift(column_totals, backend="native", verify="off")
    for layout in (lambda x: x, lambda x: x.T, lambda x: x[::2, ::3], lambda x: x[:, :1], lambda x: x):
        x, out, wanted = (make(np.random.default_rng(k // 2).normal(size=(7, 9))) for k in range(1, 4))
        wanted = out * 0
        out = out * 0
        assert lifted(layout(x), layout(out)).tolist() == column_totals(layout(x), layout(wanted)).tolist()
        assert out.tolist() == wanted.tolist()
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def stops_at_a_place(x, out, places):
    for i in range(len(places)):
        out[i] = out[i - 1] + x[places[i]]
    return out


def stops_at_a_division(x, out, places):
    total = 0
    for i in range(len(places)):
        total = total * 3 + 10 // places[i]
        out[i] = out[i - 1] * 0.5 + total
    return total


def stops_in_an_inner_loop(x, out, places):
    for i in range(len(places)):
        out[i] = 1.0
        for j in range(i + 1):
            out[j] += x[places[i] + j] * 2.0
    return out


def stops_before_the_loop(x, out, places):
    out[0] = 5.0
    out[1] = x[places[0]]
    for i in range(2, len(places)):
        out[i] = out[i - 1] + 1.0
    return out


@pytest.mark.parametrize("make", [np.asarray, torch.tensor, list])
@pytest.mark.parametrize(
    "function", [stops_at_a_place, stops_at_a_division, stops_in_an_inner_loop, stops_before_the_loop]
)
def test_a_kernel_that_fails_leaves_what_the_loop_leaves(function, make):
    lifted = lift(function, backend="native", verify="off")
    for places in ([1, 2, 3, 1], [1, 2, 0, 1], [1, 2, 40, 1], [40, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]):
        x, out = [1.0, 2.0, 1e308, 4.0, 5.0, 6.0, 7.0, 8.0], [3.0, 1.0, 4.0, 1.0, 5.0]
        expected = seen(function, make(x), make(out), list(places))
        assert seen(lifted, make(x), make(out), list(places)) == expected


def stops_in_a_table(x, places):
    for i in range(len(places)):
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] * 2.0 + x[places[i], j]
    return x


@pytest.mark.parametrize("view", [slice(None), (slice(None), slice(None, None, 2)), slice(1, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_put_back_may_be_any_view(view, turned):
    lifted = lift(stops_in_a_table, backend="native", verify="off")
    for places in ([0, 1, 2], [0, 1, 40]):
        wholes = [np.arange(30.0).reshape(5, 6).copy(order="F" if turned else "C") for _ in range(2)]
        lifted_saw, loop_saw = (
            seen(function, whole[view], places) for function, whole in zip((lifted, stops_in_a_table), wholes)
        )
        assert lifted_saw == loop_saw and wholes[0].tolist() == wholes[1].tolist()


def changed_before_the_loop(total, x, out, count):
    total += 1
    for i in range(count):
        out[i] = x[i] * total
    return out


@pytest.mark.parametrize("count", [3, 9])
def test_what_is_written_before_a_loop_that_fails_is_put_back(count):
    lifted = lift(changed_before_the_loop, backend="native", verify="off")
    for k in (3, count, 3):
        total, other, x = torch.tensor(1.0), torch.tensor(1.0), torch.arange(4.0)
        expected = seen(changed_before_the_loop, total, x, torch.zeros(4), k)
        assert seen(lifted, other, x, torch.zeros(4), k) == expected


def of_nobody(x, out):
    for i in range(len(x)):
        v, k = x[i], 0
        while k < 3:
            v = v * v
            k += 1
        out[i] = k
    return out


def of_the_next_step(x, out):
    for i in range(len(x)):
        v, w, k = x[i], 1.0, 0
        while k < 40 and w < 3.0:
            w = v * 0.5
            v = v * x[i] + x[i]
            k += 1
        out[i] = w
    return out


@pytest.mark.parametrize("numbers", [[1.0, 2.0], [1e200, 2.0], [np.inf, 2.0], [np.nan, 1.0], [1e160, -1e300]])
@pytest.mark.parametrize("function", [of_nobody, of_the_next_step])
def test_results_of_loops_of_any_length_that_nothing_reads(function, numbers):
    lifted = lift(function, backend="native", verify="off")
    for _ in range(3):
        found = []
        for one in (lifted, function):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                result = one(np.array(numbers), np.zeros(2))
            found.append((result, bool(warned)))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        assert found[0][1] == found[1][1]
