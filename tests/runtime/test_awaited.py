"""A first call runs a short loop while its kernel is compiled; the next one waits for it, and compares the two."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch

from looplift import check, lift
from looplift.base.errors import NotLiftable
from looplift.build import background, native
from looplift.runtime import awaited
from looplift.runtime.variants import RegionCode


def running(x, out):
    h = 0.0
    for t in range(len(x)):
        h = 0.5 * h + x[t] if x[t] > h else h * h - 1.0
        out[t] = h
    return h


def smoothed(x):
    out = torch.zeros_like(x)
    h = torch.zeros(())
    for t in range(len(x)):
        h = 0.5 * h + torch.sin(x[t] * h)
        out[t] = h
    return out


def nearest(values, k):
    stack, found = [], {}
    for i, value in enumerate(values):
        while stack and values[stack[-1]] < value + k:
            found[stack.pop()] = i
        stack.append(i)
    return found, stack


def shown(values):
    total = 0
    for value in values:
        total = total * 3 + value if total % 2 else total + value
        print(total)
    return total


class Arrival:
    """Libraries are there when ``is_there`` says so."""

    is_there = False


@pytest.fixture
def arrival(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LOOPLIFT_BACKGROUND")
    found = Arrival()

    def is_coming(self):
        if found.is_there:
            self.coming.wait()
        return self.run is None and not found.is_there

    monkeypatch.setattr(native.Awaited, "is_coming", is_coming)
    return found


def variants_of(lifted):
    return [variant for one in lifted.__looplift_state__.dispatchers for variant in one.variants]


def test_the_first_call_runs_a_short_loop_and_the_second_what_was_compiled(arrival):
    lifted, x = lift(running), torch.linspace(-1, 1, 9)
    out, expected = torch.zeros(9), torch.zeros(9)
    assert lifted(x, out) == running(x, expected) and torch.equal(out, expected)
    (variant,) = variants_of(lifted)
    assert variant.is_awaited and not variant.verified
    record = lifted.report().loops[0]
    assert record.decision == "native" and record.notes.count(awaited.NOTE) == 1
    for _ in range(2):
        out = torch.zeros(9)
        assert torch.allclose(lifted(x, out), running(x, expected)) and torch.allclose(out, expected)
        assert variant.verified and not variant.is_awaited and not variant.code.awaited()


def test_all_wait_where_compiled_code_is_to_be_seen(arrival):
    lifted, x = lift(running), torch.linspace(-1, 1, 9)
    with awaited.all_compiled():
        out, expected = torch.zeros(9), torch.zeros(9)
        assert torch.allclose(lifted(x, out), running(x, expected)) and torch.allclose(out, expected)
    (variant,) = variants_of(lifted)
    assert variant.verified and awaited.NOTE not in lifted.report().loops[0].notes


def whether_it_waits(x):
    return x, len(awaited._waiting)


def test_a_comparison_of_functions_looks_at_compiled_code():
    def waits_once(x):
        return x, 1

    assert check(whether_it_waits, waits_once, (1.5,), seconds=0)
    assert not awaited._waiting


def test_gradients_of_both(arrival):
    lifted, x = lift(smoothed), torch.linspace(-1, 1, 9, requires_grad=True)
    (expected,) = torch.autograd.grad(smoothed(x).square().sum(), x)
    for is_there in (False, True, True):
        arrival.is_there = is_there
        (gradient,) = torch.autograd.grad(lifted(x).square().sum(), x)
        torch.testing.assert_close(gradient, expected)
    (variant,) = variants_of(lifted)
    assert variant.verified and variant.call is not None


def test_programs_over_lists(arrival):
    lifted, values = lift(nearest), [3, 1, 4, 1, 5, 9, 2, 6]
    for is_there in (False, True, True):
        arrival.is_there = is_there
        assert lifted(values, 0) == nearest(values, 0)
    (variant,) = variants_of(lifted)
    assert variant.verified and not variant.code.awaited()


def test_what_is_printed_is_printed_once(arrival, capsys):
    lifted = lift(shown)
    for is_there in (False, True, True):
        arrival.is_there = is_there
        assert lifted([1, 2, 3]) == shown([1, 2, 3])
        text = capsys.readouterr().out.split("\n")
        assert text[: len(text) // 2] * 2 == text[:-1]


def roots(values):
    total = 0.0
    for value in values:
        total = np.sqrt(value - 1.0) if total < 1 else total * 0.5
    return total


def test_warnings_of_the_loop_are_seen(arrival):
    lifted, values = lift(roots), np.linspace(0, 1, 5)
    for is_there in (False, True, True):
        arrival.is_there = is_there
        with pytest.warns(RuntimeWarning, match="invalid value"):
            lifted(values)


def test_a_call_that_is_interrupted_leaves_the_next_one_waiting(arrival, monkeypatch):
    lifted, x = lift(running), torch.linspace(-1, 1, 9)
    lifted(x, torch.zeros(9))
    (variant,) = variants_of(lifted)

    def interrupt(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(background.Coming, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lifted(x, torch.zeros(9))
    assert variant.is_awaited
    out, expected = torch.zeros(9), torch.zeros(9)
    assert torch.allclose(lifted(x, out), running(x, expected)) and torch.allclose(out, expected)
    assert variant.verified and not variant.is_awaited


def test_objects_that_answer_to_every_name_are_not_awaited():
    assert not RegionCode([], namespace={"settings": Mock()}).awaited()


def test_an_exception_of_the_loop_is_its_own(arrival):
    lifted, x = lift(running), torch.linspace(-1, 1, 9)
    for is_there in (False, True):
        arrival.is_there = is_there
        with pytest.raises(IndexError) as raised:
            lifted(x, torch.zeros(4))
        with pytest.raises(IndexError) as expected:
            running(x, torch.zeros(4))
        assert str(raised.value) == str(expected.value)


def test_what_cannot_be_compiled_leaves_the_loop(arrival, monkeypatch):
    def refuse(*given, **named):
        raise NotLiftable("backend", "the compiler took too long")

    monkeypatch.setattr(native, "_library", refuse)
    lifted, x = lift(running), torch.linspace(-1, 1, 9)
    for is_there in (False, True, True):
        arrival.is_there = is_there
        out, expected = torch.zeros(9), torch.zeros(9)
        assert lifted(x, out) == running(x, expected) and torch.equal(out, expected)
    record = lifted.report().loops[0]
    assert record.decision == "kept" and "the compiler took too long" in record.reason


def test_nothing_is_awaited_where_calls_are_not_compared(arrival):
    lifted, x = lift(running, verify="off"), torch.linspace(-1, 1, 9)
    out, expected = torch.zeros(9), torch.zeros(9)
    assert torch.allclose(lifted(x, out), running(x, expected)) and torch.allclose(out, expected)
    (variant,) = variants_of(lifted)
    assert variant.verified and not variant.code.awaited()


def test_what_is_awaited_is_remembered(arrival, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_REMEMBER", "1")
    x = torch.linspace(-1, 1, 9)
    for is_there in (False, True):
        arrival.is_there = is_there
        lifted = lift(running)
        out, expected = torch.zeros(9), torch.zeros(9)
        assert torch.allclose(lifted(x, out), torch.as_tensor(running(x, expected))) and torch.allclose(out, expected)
        arrival.is_there = True
        lifted(x, out)
        assert lifted.report().loops[0].decision == "native"
