"""A variant that is slower than the loop is not used."""

import time

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord
from looplift.runtime import variants
from looplift.runtime.dispatch import Variant
from looplift.runtime.second import trial_of
from looplift.runtime.trials import Trial, decided_together, size_class
from looplift.runtime.variants import RegionCode

X = torch.arange(1.0, 5.0)


def fastest(call):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def double(x):
    out = []
    for v in x:
        out.append(2 * v)
    return torch.stack(out)


def test_slow_variants_step_back_until_arguments_grow(stand_in):
    stand_in.answer("double", "if x.shape[0] < 20: time.sleep(0.003)", "return 2 * x", namespace={"time": time})
    lifted = lift(double)
    for _ in range(12):
        assert torch.equal(lifted(X), 2 * X)
    record = lifted.report().loops[0]
    assert (record.decision, record.code) == ("kept", "too-small") and "of batched code" in record.reason
    assert "for v in x:" in lifted.source
    assert fastest(lambda: lifted(X)) < 0.003
    for _ in range(12):
        large = torch.ones(500)
        assert torch.equal(lifted(large), 2 * large)
    assert lifted.report().loops[0].decision == "lanes" and "return 2 * x" in lifted.source
    assert len(stand_in.seen) == 1


def test_a_part_that_steps_back_is_tried_again_when_arguments_grow(stand_in):
    def steps(x, n):
        for k in range(n):
            print(end="")
            out = []
            for v in x:
                out.append(v + k)
            x = torch.stack(out)
        return x

    stand_in.refuse("steps", at=1)
    text = "if x.shape[0] < 20: time.sleep(0.003)"
    stand_in.answer("steps", text, "x = x + k", line=3, namespace={"time": time})
    lifted = lift(steps)
    for size in (4, 500):
        x = torch.ones(size)
        for _ in range(12):
            assert torch.equal(lifted(x, 1), steps(x, 1))
    assert "lanes" in {loop.decision for loop in lifted.report().loops}, str(lifted.report())


def test_a_loop_around_slow_loops_forgets_them(stand_in):
    def steps(x, n):
        for k in range(n):
            print(end="")
            out = []
            for v in x:
                out.append(v + k)
            x = torch.stack(out)
        return x

    stand_in.refuse("steps", at=1)
    stand_in.answer("steps", "time.sleep(0.002)", "x = x + k", line=3, namespace={"time": time})
    lifted = lift(steps)
    for _ in range(3):
        assert torch.equal(lifted(X, 12), steps(X, 12))
    assert fastest(lambda: lifted(X, 12)) < 0.01


def repeated(x, n):
    for k in range(n):
        out = []
        for v in x:
            out.append(v + k)
        x = torch.stack(out)
    return x


@pytest.mark.parametrize("inner", ["x = x + k", "time.sleep(0.01); x = x + k"])
def test_pieces_run_where_the_whole_is_slower_than_a_long_loop(stand_in, inner):
    whole = ("time.sleep(0.2)", "for k in range(n): x = x + k", "return x")
    stand_in.answer("repeated", *whole, line=1, namespace={"time": time})
    stand_in.answer("repeated", inner, line=2, namespace={"time": time})
    lifted, x = lift(repeated), torch.ones(300)
    for _ in range(24):
        assert torch.equal(lifted(x, 4), repeated(x, 4))
    decisions = [loop.decision for loop in lifted.report().loops]
    assert decisions == (["kept", "lanes"] if inner == "x = x + k" else ["kept", "kept"])
    (region,) = lifted.__looplift_state__.dispatchers
    (small,) = [variant for variant in region.variants if variant.plain]
    assert small.is_divided == (inner == "x = x + k")


def test_calls_of_other_sizes_are_not_compared(stand_in):
    stand_in.answer("double", "if x.shape[0] < 20: time.sleep(0.002)", "return 2 * x", namespace={"time": time})
    lifted = lift(double)
    large = torch.ones(3000)
    lifted(X)
    lifted(X)
    for _ in range(3):
        assert torch.equal(lifted(large), 2 * large)
    assert lifted.report().loops[0].decision == "lanes" and "return 2 * x" in lifted.source


def test_a_size_is_known_to_a_factor_of_two():
    assert size_class((torch.zeros(5, 3), np.zeros(9), [1] * 4, -17, 0.5, None)) == (3, 2, 4, 3, 5)
    assert size_class((torch.zeros(7, 2),)) == size_class((torch.zeros(4, 3),)) != size_class((torch.zeros(8, 3),))


def test_verdicts():
    assert Trial(None).passed() is None
    assert Trial(None, batched=[0.5]).passed() is None
    assert Trial(None, batched=[1e-5]).passed() is None
    assert Trial(None, batched=[1e-5] * 4, written=[1e-6] * 4).passed() is False
    assert Trial(1.0).passed() is None
    assert Trial(1.0, batched=[0.1]).passed()
    assert Trial(1.0, batched=[0.9]).passed() is None
    assert Trial(1.0, batched=[0.9, 0.9], written=[0.3]).passed() is None
    assert Trial(1.0, batched=[0.9, 0.9], written=[0.3, 0.3]).passed() is False
    assert Trial(1.0, patience=3.0, batched=[0.9] * 4, written=[0.3] * 4).passed()
    assert Trial(1.0, batched=[1.0] * 4, written=[1.1] * 4).passed()
    assert Trial(0.05, batched=[0.03, 0.02], written=[1.0]).passed()
    assert Trial(0.05, batched=[0.03, 0.02], written=[0.1]).passed() is None


def test_the_first_call_of_the_loop_took_no_less_than_others():
    disturbed = {"batched": [2.0, 1.9], "written": [5.7, 4.3]}
    assert Trial(1.8, **disturbed).passed() is None
    assert Trial(1.8, patience=3.0, **disturbed).passed()
    assert Trial(1.8, is_estimate=True, **disturbed).passed()
    assert Trial(0.0, **disturbed).passed()
    assert Trial(1.8, batched=[2.0, 1.9, 1.9, 2.0], written=[5.7, 4.3, 1.8, 1.7]).passed() is False
    assert Trial(1.8, batched=[1.06] * 4, written=[1.0] * 4).passed() is False


def test_first_iterations_do_not_tell_how_long_lanes_that_part_ways_take():
    for parts_ways in (True, False):
        variant = Variant([], (), 0, code=RegionCode([], parts_ways=parts_ways), seconds=64.0)
        assert trial_of(variant, 1.0, is_estimate=True).loop == (2.0 if parts_ways else 64.0)
        assert trial_of(variant, 1.0, is_estimate=False).loop == 64.0


@pytest.mark.parametrize(("decision", "loop"), [("lanes", None), ("sequential", 0.0), ("waves", 0.0)])
def test_loops_that_stay_take_turns_with_a_loop_that_nothing_was_compared_with(decision, loop):
    code = RegionCode([], decisions=[LoopRecord("loops.py", 1, decision)])
    assert trial_of(Variant([], (), 0, code=code), 1.0, is_estimate=False).loop == loop


def steps(x, count):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        v, n = x[i], 0
        while n < count[i]:
            v = 0.5 * (v + x[i] / v)
            n += 1
        out[i] = v
    return out


@pytest.mark.parametrize("function, wanted", [(steps, True), (double, False)])
def test_code_tells_whether_lanes_part_ways(function, wanted, monkeypatch):
    made = []
    kept = lambda *args, **fields: made.append(fields) or RegionCode(*args, **fields)
    monkeypatch.setattr(variants, "RegionCode", kept)
    arguments = (torch.rand(6) + 1, torch.tensor([1, 5, 1, 1, 0, 2]))[: 1 + wanted]
    assert torch.allclose(lift(function, backend="torch")(*arguments), function(*arguments))
    assert [fields["parts_ways"] for fields in made] == [wanted]


def test_sizes_that_stay_undecided_are_decided_together():
    slow = [Trial(1.0, batched=[0.9], written=[0.3]) for _ in range(6)]
    assert decided_together(slow) is False and decided_together(slow[:5]) is None
    assert decided_together([Trial(1.0, batched=[0.2], written=[0.3]) for _ in range(6)])
    assert decided_together([Trial(1.0) for _ in range(6)]) is None
    assert decided_together([Trial(1.0) for _ in range(12)])
    few = [Trial(1.0, batched=[0.3], written=[0.2]), *(Trial(1.0, batched=[0.3]) for _ in range(11))]
    assert decided_together(few) is False and decided_together(few[:11]) is None


def test_what_it_takes_to_come_to_a_variant_is_a_part_of_its_calls():
    trial = Trial(1.0)
    for entry in (5e-6, 0.0, 1.0):  # the last one was disturbed
        trial.took(1e-6, entry)
    assert trial.batched == [6e-6, 2e-6, 2e-6]


def test_places_that_differ_in_every_call_are_no_sizes(stand_in):
    def nearest(x, low, high):
        for k in range(low, high):
            if x[k] > 0:
                return k
        return high

    stand_in.answer("nearest", "time.sleep(0.002)", "return low", namespace={"time": time})
    lifted = lift(nearest)
    for _ in range(4):
        for low in (1, 3, 7, 15, 31, 63, 127, 255):
            assert lifted(torch.ones(512), low, 512) == low
    assert lifted.report().loops[0].code == "too-small"
    assert fastest(lambda: lifted(torch.ones(512), 100, 512)) < 0.002


def slow_double(x):
    out = []
    for v in x:
        time.sleep(0.0005)
        out.append(2 * v)
    return torch.stack(out)


def soon_faster(stand_in, seconds):
    """What takes so long until its better code is there; ``state`` counts its calls."""
    state = {"slow": True, "calls": 0}
    text = f"state['calls'] += 1\nif state['slow']: time.sleep({seconds})"
    namespace = {"time": time, "state": state}
    stand_in.answer("slow_double", text, "return 2 * x", namespace=namespace, is_preliminary=lambda: state["slow"])
    return state


def test_what_will_soon_be_faster_waits_until_it_is(stand_in):
    state, lifted = soon_faster(stand_in, 0.006), lift(slow_double)
    for _ in range(30):
        assert torch.equal(lifted(X), 2 * X)
    assert lifted.report().loops[0].decision == "lanes"
    assert state["calls"] < 8
    state["slow"] = False
    for _ in range(30):
        assert torch.equal(lifted(X), 2 * X)
    assert lifted.report().loops[0].decision == "lanes" and "return 2 * x" in lifted.source
    assert state["calls"] > 16


def test_what_is_slower_by_far_is_not_waited_for(stand_in):
    state, lifted = soon_faster(stand_in, 0.03), lift(slow_double)
    for _ in range(12):
        assert torch.equal(lifted(X), 2 * X)
    assert lifted.report().loops[0].decision == "kept"
    assert state["calls"] < 8


def test_a_short_first_call_may_have_been_disturbed():
    assert Trial(0.01, batched=[0.001]).passed() is None
    assert Trial(0.1, batched=[0.001]).passed()


def test_a_long_loop_has_its_turn_after_two_calls_of_the_other():
    cold = Trial(0.05, is_estimate=True, batched=[0.03])
    assert cold.passed() is None and not cold.turn_of_loop
    cold.batched.append(0.01)
    assert cold.passed()
    slow = Trial(0.05, is_estimate=True, batched=[0.03, 0.02])
    assert slow.passed() is None and slow.turn_of_loop
    slow.written.append(0.06)
    assert not slow.turn_of_loop
    assert Trial(0.05, batched=[0.2]).turn_of_loop and Trial(0.01, batched=[0.005]).turn_of_loop


def test_a_loop_of_which_nothing_is_known_has_a_turn():
    assert Trial(None, batched=[0.001]).turn_of_loop
    assert Trial(None, batched=[0.01], can_end=True).turn_of_loop
    late, endless = Trial(None, batched=[1.0] * 15, can_end=True), Trial(None, batched=[1.0] * 190)
    assert not late.turn_of_loop and not endless.turn_of_loop
    late.batched.append(1.0)
    endless.batched += [1.0] * 10
    assert late.turn_of_loop and endless.turn_of_loop
    assert late.passed() is None and endless.passed() is None


@pytest.mark.parametrize("decision", ["waves", "sequential"])
def test_of_a_loop_that_did_not_end_in_time_that_is_known(decision):
    code = RegionCode(["return x"], {}, [], [], decisions=[LoopRecord("f.py", 1, decision)])
    trial = trial_of(Variant([], (), 0, code=code), 3.0, is_estimate=True, spent=0.05)
    assert trial.loop == 0.05 and trial.is_estimate
    trial.took(0.001)
    assert trial.passed()
    assert trial_of(Variant([], (), 0, code=code), 3.0, is_estimate=True).loop == 0.0


def test_pieces_of_a_long_loop_have_no_turn_before_the_other_form_has_run_for_long():
    refused = Variant([], (), 0, code=RegionCode([]), refusal=NotLiftable("mixed-kinds", "no"), seconds=1.0)
    trial = trial_of(refused, 1.0, is_estimate=True, spent=0.05)
    trial.took(0.1)
    assert not trial.turn_of_loop
    trial.batched += [0.5] * 4
    assert trial.turn_of_loop
    refused.trials = {(): Trial(0.0, batched=[0.1], written=[0.2])}
    trial = trial_of(refused, 1.0, is_estimate=True, spent=0.05)
    trial.took(0.1)
    assert trial.turn_of_loop


@pytest.mark.parametrize(
    ("batched", "written", "passed"),
    [
        ([0.02, 0.03], [0.001, 0.001], False),
        ([0.02, 0.03], [0.001], None),
        ([0.02, 0.002], [0.001, 0.001], None),  # the first one was cold
        ([0.006, 0.007], [0.001, 0.001], None),
        ([0.0006, 0.0007], [1e-5, 1e-5], None),  # what is brief may have been disturbed twice
        ([0.12, 0.13], [0.05, 0.05], False),
    ],
)
def test_what_loses_clearly_is_seen_in_two_pairs(batched, written, passed):
    assert Trial(0.001, batched=batched, written=written).passed() is passed


def test_guards_that_look_at_all_items_count():
    trial = Trial(0.001)
    trial.took(0.002, 0.03)
    trial.took(0.002, 200.0)  # no time of guards
    assert trial.batched[0] == pytest.approx(0.032) and trial.batched[1] < 0.003
