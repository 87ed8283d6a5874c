"""Batched code and a kernel for the same arguments: the faster one runs."""

import re
from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.errors import NotLiftable
from looplift.build import compiler, speed
from looplift.runtime import alternatives, rivals
from looplift.runtime.trials import Trial


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Kernels take turns from the first call on, and are said to be faster."""
    monkeypatch.setattr(rivals, "EARNED", -1.0)
    monkeypatch.setattr(rivals, "GAIN", 1e9)
    monkeypatch.setattr(rivals, "HOPE", 1e9)


def overlaps(a, b):
    out = torch.zeros(len(a), len(b))
    for i in range(len(a)):
        for j in range(len(b)):
            width = min(a[i, 1], b[j, 1]) - max(a[i, 0], b[j, 0])
            if width > 0:
                out[i, j] = width / (a[i, 1] - a[i, 0] + b[j, 1] - b[j, 0] - width)
    return out


def spans(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(count, 2, generator=generator).cumsum(1)


def called(lifted, function, arguments, times):
    for _ in range(times):
        assert torch.equal(lifted(*arguments), function(*arguments))


def made_by(change, monkeypatch):
    """Other forms whose calls are changed before they run."""
    original = alternatives.made

    def made(*arguments):
        other = original(*arguments)
        other.call = change(other.call)
        return other

    monkeypatch.setattr(alternatives, "made", made)


def test_a_kernel_runs_from_the_time_on_that_it_was_faster():
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(40), spans(30, 1)), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    assert "as compiled code" in str(lifted.report())
    assert "torch.where" in lifted.source and "kernel" not in lifted.source


def test_greater_sizes_are_timed_anew(monkeypatch):
    ran = []

    def noted(call):
        return lambda *arguments: ran.append(len(arguments[0])) or call(*arguments)

    made_by(noted, monkeypatch)
    lifted = lift(overlaps, verify="off")
    for count in (6, 50, 200):
        called(lifted, overlaps, (spans(count), spans(count + 1, 1)), 12)
    called(lifted, overlaps, (spans(3), spans(5, 1)), 2)
    assert {6, 50, 200, 3} == set(ran) and ran.count(3) == 2


def test_the_report_says_what_was_expected(monkeypatch):
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(40), spans(30, 1)), 12)
    assert re.search(
        r"as compiled code [\d.]+ .s, of which [\d.]+ .s were expected", " ".join(str(lifted.report()).split())
    )


def test_none_is_compiled_that_must_be_slow(monkeypatch):
    monkeypatch.setattr(rivals, "HOPE", 0.0)
    monkeypatch.setattr(alternatives, "made", lambda *given: pytest.fail("compiled"))
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(40), spans(30, 1)), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert "as compiled code it is expected to take" in " ".join(str(lifted.report()).split())


def test_without_a_compiler_there_is_none(monkeypatch):
    def missing(name):
        raise NotLiftable("backend", "no C++ compiler was found on this machine")

    monkeypatch.setattr(compiler, "library", missing)
    monkeypatch.setattr(speed, "speed", speed._measured)
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(40), spans(30, 1)), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def test_a_slow_one_does_not_run(monkeypatch):
    monkeypatch.setattr(rivals, "GAIN", 0.0)
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(9), spans(8, 1)), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


@pytest.mark.parametrize("verify", ["first", "off"])
def test_one_that_fails_does_not_run(monkeypatch, verify):
    def failing(call):
        def fail(*arguments):
            raise IndexError("no such place")

        return fail

    made_by(failing, monkeypatch)
    lifted = lift(overlaps, verify=verify)
    called(lifted, overlaps, (spans(30), spans(20, 1)), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def filled(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            width = min(a[i, 1], b[j, 1]) - max(a[i, 0], b[j, 0])
            out[i, j] = out[i, j] + width * width


@pytest.mark.parametrize("fails_in", [1, 2, 3])
@pytest.mark.parametrize("verify", ["first", "off"])
def test_what_one_wrote_that_fails_is_put_back(monkeypatch, verify, fails_in):
    calls = []

    def late(call):
        def fail(*arguments):
            result = call(*arguments)
            calls.append(1)
            if len(calls) >= fails_in:
                raise IndexError("no such place")
            return result

        return fail

    made_by(late, monkeypatch)
    made = alternatives.made

    def which_may_fail(*arguments):
        other = made(*arguments)
        other.code.commits_early = True
        return other

    monkeypatch.setattr(alternatives, "made", which_may_fail)
    lifted = lift(filled, verify=verify)
    a, b, want, got = spans(30), spans(20, 1), torch.zeros(30, 20), torch.zeros(30, 20)
    for _ in range(12):
        lifted(a, b, got)
        filled(a, b, want)
        torch.testing.assert_close(got, want)
    assert len(calls) >= fails_in


def test_one_that_gives_another_result_does_not_run(monkeypatch):
    made_by(lambda call: lambda *arguments: call(*arguments) + 1, monkeypatch)
    lifted = lift(overlaps)
    called(lifted, overlaps, (spans(30), spans(20, 1)), 20)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert "gave another result than batched code" in str(lifted.report())


def test_one_that_fails_later_leaves_the_place_to_batched_code(monkeypatch):
    calls = []

    def later(call):
        def fail(*arguments):
            calls.append(1)
            if len(calls) > 9:
                raise IndexError("no such place")
            return call(*arguments)

        return fail

    made_by(later, monkeypatch)
    lifted = lift(overlaps, verify="off")
    called(lifted, overlaps, (spans(40), spans(30, 1)), 24)
    assert len(calls) == 10 and {loop.decision for loop in lifted.report().loops} == {"lanes"}


def test_stores_into_arguments_happen_once():
    def added(x, total):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total[i, j] = total[i, j] * 0.5 + x[i, j] * x[i, j]

    lifted = lift(added)
    x, total = torch.rand(30, 20), torch.zeros(30, 20)
    wanted = total.clone()
    for _ in range(20):
        lifted(x, total)
        added(x, wanted)
        assert torch.equal(total, wanted)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_errors_are_the_loops():
    def picked(x, places):
        out = torch.zeros(len(places))
        for k in range(len(places)):
            out[k] = x[places[k]] * 2 + 1
        return out

    lifted = lift(picked)
    x, places = torch.rand(60), torch.arange(50)
    called(lifted, picked, (x, places), 12)
    for _ in range(5):
        with pytest.raises(IndexError) as found:
            lifted(x, places + 20)
        with pytest.raises(IndexError) as wanted:
            picked(x, places + 20)
        assert str(found.value) == str(wanted.value)
    called(lifted, picked, (x, places), 3)


def test_gradients_stay_with_batched_code():
    lifted = lift(overlaps)
    a, b = spans(9).requires_grad_(), spans(8, 1)
    for _ in range(8):
        (found,) = torch.autograd.grad(lifted(a, b).sum(), a)
        (wanted,) = torch.autograd.grad(overlaps(a, b).sum(), a)
        torch.testing.assert_close(found, wanted)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def chain(emissions, steps):
    losses = []
    for feats in emissions:
        alpha = [feats[0, k] for k in range(feats.shape[1])]
        for t in range(1, feats.shape[0]):
            after = []
            for k in range(feats.shape[1]):
                terms = [alpha[p] + steps[p, k] for p in range(feats.shape[1])]
                after.append(torch.logsumexp(torch.stack(terms), dim=0) + feats[t, k])
            alpha = after
        losses.append(torch.logsumexp(torch.stack(alpha), dim=0))
    return torch.stack(losses)


def test_a_program_takes_turns_with_steps_of_batched_code_that_ask_for_gradients():
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randn(count, 3, dtype=torch.float64, generator=generator).requires_grad_() for count in (4, 1, 6, 2)]
    steps = torch.randn(3, 3, dtype=torch.float64, generator=generator).requires_grad_()
    lifted = lift(chain, verify="off")
    for _ in range(12):
        wanted, found = chain(rows, steps), lifted(rows, steps)
        torch.testing.assert_close(found, wanted)
        slopes = [torch.autograd.grad(one.square().sum(), [*rows, steps]) for one in (wanted, found)]
        torch.testing.assert_close(slopes[1], slopes[0])
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    assert "as compiled code" in str(lifted.report()) and "were expected" not in str(lifted.report())


def greatest_of_cells(rows, cell, count):
    pooled = torch.full((count, rows.shape[1]), float("-inf"))
    for k in range(len(rows)):
        pooled[cell[k]] = torch.maximum(pooled[cell[k]], rows[k])
    return pooled


def test_what_is_combined_at_places_has_a_rival():
    lifted, generator = lift(greatest_of_cells, verify="off"), torch.Generator().manual_seed(0)
    rows, cell = torch.randn(200, 3, generator=generator), torch.randint(0, 20, (200,), generator=generator)
    called(lifted, greatest_of_cells, (rows, cell, 20), 12)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    assert '"amax"' in lifted.source


def adaptive(starts, rates, end, tolerance):
    """Steps of a length that a power of the last error decides."""
    found = []
    for y, rate in zip(starts, rates):
        t, step = 0.0, 0.1
        while t < end:
            step = min(step, end - t)
            euler = y - step * rate * y
            half = y - 0.5 * step * rate * y
            better = half - 0.5 * step * rate * half
            error = (better - euler).abs().max().item()
            if error <= tolerance:
                t = t + step
                y = better
            step = step * min(4.0, max(0.25, 4.0 if error == 0 else 0.9 * (tolerance / error) ** (1 / 2)))
        found.append(y)
    return torch.stack(found)


def test_lanes_with_powers_of_pythons_have_a_program_with_a_tape_as_their_rival(monkeypatch):
    monkeypatch.setattr(Trial, "turn_of_loop", False)
    monkeypatch.setattr(Trial, "passed", lambda self: True)
    lifted: Any = lift(adaptive)
    both: list[Any] = [lifted, adaptive]
    generator = torch.Generator().manual_seed(0)
    starts, rates = (torch.rand(3, *shape, generator=generator, dtype=torch.float64) for shape in ((2,), ()))
    seen = set()
    for end in (0.3, 0.4, 0.5, 0.3, 0.4, 0.5, 0.3, 0.4, 0.5, 0.0):  # no step at all in the end
        given = [tensor.clone().requires_grad_() for tensor in (starts, rates)]
        results = [function(*given, end, 1e-3) for function in both]
        assert torch.equal(*results)
        got, wanted = (torch.autograd.grad((one * one).sum(), given, allow_unused=True) for one in results)
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
        seen |= {loop.decision for loop in lifted.report().loops}
    assert {"lanes", "native"} <= seen
    assert "as compiled code" in str(lifted.report())
    inputs = [tensor.clone().requires_grad_() for tensor in (starts, rates)]
    assert torch.autograd.gradcheck(lambda *pair: lifted(*pair, 0.2, 1e9), inputs)


def leaking(currents, decay, threshold):
    """Potentials of a neuron after each of many steps, put together to rows that are long."""
    trains = []
    for row in currents:
        v = torch.zeros((), dtype=currents.dtype)
        potentials = []
        for current in row:
            v = decay * v + current
            if v > threshold:
                v = v - threshold
            potentials.append(v)
        trains.append(torch.stack(potentials))
    return torch.stack(trains)


def test_numbers_that_are_collected_in_long_rows_have_a_program_with_a_tape_as_their_rival(monkeypatch):
    monkeypatch.setattr(Trial, "turn_of_loop", False)
    monkeypatch.setattr(Trial, "passed", lambda self: True)
    lifted: Any = lift(leaking)
    both: list[Any] = [lifted, leaking]
    seen = set()
    for length in [300] * 12 + [1]:
        generator = torch.Generator().manual_seed(length)
        currents = torch.rand(3, length, generator=generator, dtype=torch.float64)
        given = [currents.requires_grad_(), torch.tensor(0.9, dtype=torch.float64, requires_grad=True)]
        results = [function(*given, 1.0) for function in both]
        assert torch.equal(*results)
        got, wanted = (torch.autograd.grad((one * one).sum(), given, allow_unused=True) for one in results)
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)
        seen |= {loop.decision for loop in lifted.report().loops}
    assert {"lanes", "native"} <= seen
