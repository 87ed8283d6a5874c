"""Where batched code is slow or does not hold, another form of it takes over."""

import time

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord
from looplift.runtime.trials import Trial
from looplift.runtime.variants import RegionCode

X = torch.arange(1.0, 5.0)
SLOW = ("if x.shape[0] < 20: time.sleep(0.03)", "return 2 * x")


def double(x):
    out = []
    for v in x:
        time.sleep(2e-4 if len(out) < 3 else 0)
        out.append(2 * v)
    return torch.stack(out)


def other_form(*statements, asked=None, **options):
    def make(values):
        if asked is not None:
            asked.append(dict(values))
        if not statements:
            raise NotLiftable("not-scalar", "there is none")
        return RegionCode(list(statements), decisions=[LoopRecord("", 0, "native")], **options)

    return make


def calls(lifted, x, count=16):
    for _ in range(count):
        assert torch.equal(lifted(x), 2 * x)


def test_the_other_form_takes_over_at_the_size_where_the_first_is_slow(stand_in):
    asked, ran = [], []
    other = other_form("ran.append('other')", "return x + x", asked=asked, namespace={"ran": ran})
    first = ("ran.append('first')", *SLOW)
    stand_in.answer("double", *first, namespace={"time": time, "ran": ran}, alternative=other)
    lifted = lift(double)
    calls(lifted, X)
    assert "return x + x" in lifted.source and lifted.report().loops[0].decision == "native"
    calls(lifted, torch.ones(500))
    assert ran[-1] == "first"
    calls(lifted, X, 1)
    assert ran[-1] == "other"
    assert len(asked) == 1 and torch.equal(asked[0]["x"], X)


@pytest.mark.parametrize("has_rival", [False, True])
def test_what_gains_little_gives_way_where_no_rival_is_timed_beside_it(stand_in, monkeypatch, has_rival):
    asked = []
    monkeypatch.setattr(Trial, "gains_little", True)
    timed = {"rival": other_form(), "expected": lambda values: float("inf")} if has_rival else {}
    stand_in.answer("double", "return 2 * x", alternative=other_form("return x + x", asked=asked), **timed)
    lifted = lift(double)
    calls(lifted, X)
    assert len(asked) == (not has_rival)
    assert lifted.report().loops[0].decision == ("lanes" if has_rival else "native")


def test_another_form_that_is_slow_leaves_the_loop(stand_in):
    other = other_form("time.sleep(0.03)", "return x + x", namespace={"time": time})
    stand_in.answer("double", *SLOW, line=1, namespace={"time": time}, alternative=other)
    lifted = lift(double)
    calls(lifted, X, 30)
    assert lifted.report().loops[0].code == "too-small" and "for v in x:" in lifted.source


def test_no_other_form(stand_in):
    stand_in.answer("double", *SLOW, line=1, namespace={"time": time}, alternative=other_form())
    lifted = lift(double)
    calls(lifted, X)
    assert lifted.report().loops[0].code == "too-small"


def test_another_form_with_other_results_is_not_used(stand_in):
    stand_in.answer("double", *SLOW, line=1, namespace={"time": time}, alternative=other_form("return x + 1"))
    lifted = lift(double)
    with pytest.warns(UserWarning, match="different results"):
        calls(lifted, X, 24)


def test_another_form_whose_guard_does_not_hold_is_not_used(stand_in):
    other = other_form("return x + x", guards=["x.shape[0] > 100"])
    stand_in.answer("double", *SLOW, line=1, namespace={"time": time}, alternative=other)
    lifted = lift(double)
    calls(lifted, X)
    assert lifted.report().loops[0].code == "too-small"


def test_the_other_form_replaces_what_does_not_hold(stand_in):
    stand_in.answer("double", "raise RequirementFailed", alternative=other_form("return x + x"))
    lifted = lift(double)
    calls(lifted, X)
    assert "return x + x" in lifted.source and lifted.report().loops[0].decision == "native"


def test_loops_that_end_early_in_some_iterations_become_kernels():
    def orthogonal(a):
        q = np.zeros_like(a)
        for k in range(a.shape[1]):
            q[:, k] = a[:, k] / np.sqrt(np.dot(a[:, k], a[:, k]))
            for j in range(k + 1, a.shape[1]):
                a[:, j] -= q[:, k] * np.dot(q[:, k], a[:, j])
        return q

    lifted = lift(orthogonal)
    for size in (3, 4, 5, 2, 1, 6):
        a = np.random.default_rng(size).random((size + 2, size))
        ours, theirs = a.copy(), a.copy()
        np.testing.assert_allclose(lifted(ours), orthogonal(theirs), rtol=1e-9)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert [loop.decision for loop in lifted.report().loops] == ["native", "native"]


def test_one_that_needs_other_things_is_asked_for_last(stand_in):
    asked = []
    again = other_form("raise RequirementFailed", asked=asked)
    last = other_form("return x + x", asked=asked)
    stand_in.answer("double", "raise RequirementFailed", alternative=again, otherwise=last)
    lifted = lift(double, verify="off")
    calls(lifted, X, 8)
    assert len(asked) == 2 and "return x + x" in lifted.source
    stand_in.answer("double", "raise RequirementFailed", otherwise=last)
    lifted = lift(double, verify="off")
    calls(lifted, X, 4)
    assert len(asked) == 3 and "return x + x" in lifted.source


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_arrays_that_each_step_makes_shorter_are_a_program(backend):
    def kept_apart(places, order, least):
        kept = []
        while len(order) > 0:
            first, rest = order[0], []
            kept.append(first)
            for k in order[1:]:
                if abs(places[k] - places[first]) > least:
                    rest.append(k)
            order = np.array(rest, dtype=int)
        return kept, order

    lifted = lift(kept_apart, backend=backend, verify="off")
    for size in (9, 9, 9, 9, 9, 2, 1, 0, 40):
        places = np.random.default_rng(size).random(size)
        found, wanted = (one(places, np.argsort(places), 0.1) for one in (lifted, kept_apart))
        assert [(type(k), k) for k in found[0]] == [(type(k), k) for k in wanted[0]]
        assert found[1].dtype == wanted[1].dtype and found[1].tolist() == wanted[1].tolist()
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
