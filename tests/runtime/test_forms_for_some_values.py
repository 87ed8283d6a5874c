"""Another form of a variant may hold for fewer values than the variant: the numbers that a module has, for example."""

import time

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.report import LoopRecord
from looplift.runtime import alternatives, rivals
from looplift.runtime.variants import RegionCode

X = torch.arange(1.0, 5.0)


def scaled(x, k):
    out = []
    for v in x:
        time.sleep(2e-4)
        out.append(v * k)
    return torch.stack(out)


def form_of(made, ran, seconds=0.0):
    """Compiles a form that holds for one number alone."""

    def make(values):
        made.append(k := values["k"])
        statements = [f"ran.append(({k}, k))", f"time.sleep({seconds})", f"return x * {k}"]
        names = {"ran": ran, "time": time}
        return RegionCode(statements, guards=[f"k == {k}"], namespace=names, decisions=[LoopRecord("", 0, "native")])

    return make


def calls(lifted, numbers, count):
    for _ in range(count):
        for k in numbers:
            np.testing.assert_array_equal(lifted(X, k).numpy(), (X * k).numpy())


def test_values_for_which_the_other_form_does_not_hold_have_one_of_their_own(stand_in):
    made, ran, slow = [], [], []
    first = ("slow.append(k)", "time.sleep(0.01)", "return x * k")
    stand_in.answer("scaled", *first, line=1, namespace={"time": time, "slow": slow}, alternative=form_of(made, ran))
    lifted = lift(scaled)
    calls(lifted, [3], 16)
    calls(lifted, [5], 16)
    assert made == [3, 5]
    slow.clear(), ran.clear()
    calls(lifted, [3, 5], 8)
    assert not slow and {*ran} == {(3, 3), (5, 5)}


def test_forms_for_ever_other_values_are_made_a_few_times(stand_in):
    made, slow = [], []
    first = ("slow.append(k)", "time.sleep(0.01)", "return x * k")
    stand_in.answer("scaled", *first, line=1, namespace={"time": time, "slow": slow}, alternative=form_of(made, []))
    lifted = lift(scaled)
    for k in range(65, 65 + 2 * alternatives.MAX_RENEWALS):
        calls(lifted, [k], 16)
    assert len(made) == 1 + alternatives.MAX_RENEWALS
    slow.clear()
    calls(lifted, [73, 74], 8)
    assert not slow


def test_a_rival_runs_for_values_that_it_holds_for(stand_in, monkeypatch):
    for name, value in (("EARNED", -1.0), ("GAIN", 1e9), ("HOPE", 1e9)):
        monkeypatch.setattr(rivals, name, value)
    made, ran = [], []
    rival = {"rival": form_of(made, ran), "expected": lambda values: 0.0}
    stand_in.answer("scaled", "return x * k", **rival)
    lifted = lift(scaled, verify="off")
    calls(lifted, [5, 7], 20)
    assert len(made) == 1 and ran and {*ran} == {(made[0], made[0])}


def test_a_rival_that_holds_for_no_call_is_given_up(stand_in, monkeypatch):
    for name, value in (("EARNED", -1.0), ("GAIN", -1.0), ("HOPE", 1e9)):
        monkeypatch.setattr(rivals, name, value)
    made, ran, asked = [], [], []
    accepts = alternatives.accepts
    monkeypatch.setattr(alternatives, "accepts", lambda *given: asked.append(given) or accepts(*given))
    rival = {"rival": form_of(made, ran), "expected": lambda values: 0.0}
    stand_in.answer("scaled", "return x * k", **rival)
    lifted = lift(scaled, verify="off")
    calls(lifted, [5], 2)
    calls(lifted, [6, 7], 20)
    assert made == [5] and {*ran} <= {(5, 5)} and len(asked) <= rivals.MAX_MISSES + 2


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_modules_of_several_widths_in_turn(backend):
    class Cell(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width
            self.join = torch.nn.Linear(2 * width, width)

    def folded(model, trees):
        def value(tree):
            if isinstance(tree, int):
                return torch.full((model.width,), 0.1 * tree)
            return torch.tanh(model.join(torch.cat([value(tree[0]), value(tree[1])])))

        return torch.stack([value(tree) for tree in trees])

    torch.manual_seed(0)
    trees = [((1, 2), (3, (4, 5))), (1, (2, (3, 4))), 2, ((1, 1), 2)]
    lifted = lift(folded, backend=backend)
    models = [Cell(width) for width in (3, 6, 3, 4)]
    for _ in range(6):
        for model in models:
            for count in (2, 4):
                parameters = [*model.parameters()]
                ours, theirs = (one(model, trees[:count]) for one in (lifted, folded))
                torch.testing.assert_close(ours, theirs)
                slopes = [torch.autograd.grad(one.square().sum(), parameters) for one in (ours, theirs)]
                torch.testing.assert_close(*slopes)
