"""Regions that the compiler refuses: another form of them and their pieces take turns."""

import random
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from looplift import lift
from looplift.runtime.patience import Patience
from looplift.runtime.second import meets_the_loop, turn_of_pieces
from looplift.runtime.trials import Trial


class Expression(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.join = nn.ModuleDict({"+": nn.Linear(2 * width, width), "*": nn.Linear(2 * width, width)})


def evaluated(model, leaves, programs):
    """Each program is a text in reversed Polish notation."""
    results = []
    for program in programs:
        stack = []
        for symbol in program.split():
            if symbol in model.join:
                right = stack.pop()
                left = stack.pop()
                stack.append(torch.tanh(model.join[symbol](torch.cat([left, right]))))
            else:
                stack.append(leaves[int(symbol)])
        results.append(stack.pop() * 2)
    return torch.stack(results)


def text_of(rng, size):
    if size == 1:
        return str(rng.randrange(4))
    split = rng.randint(1, size - 1)
    return f"{text_of(rng, split)} {text_of(rng, size - split)} {rng.choice('+*')}"


def programs_of(seed, count, size):
    rng = random.Random(seed)
    return [text_of(rng, rng.randint(1, size)) for _ in range(count)]


@pytest.mark.parametrize("sizes", [(30, 30, 30, 30, 30, 30), (1, 40, 2, 40, 40, 40, 40, 3)])
def test_results_and_gradients_whoever_runs(sizes):
    torch.manual_seed(0)
    model, leaves = Expression(4), torch.randn(4, 4, requires_grad=True)
    lifted: Any = lift(evaluated)
    for seed, count in enumerate(sizes):
        programs = programs_of(seed, count, 8)
        wanted, given = (function(model, leaves, programs) for function in (evaluated, lifted))
        torch.testing.assert_close(given, wanted)
        want, got = (
            torch.autograd.grad(one.sum(), [leaves, *model.parameters()], allow_unused=True) for one in (wanted, given)
        )
        for left, right in zip(got, want, strict=True):
            assert (left is None) == (right is None)
            if left is not None:
                torch.testing.assert_close(left, right)


@pytest.mark.parametrize(("backend", "decision"), [("torch", "kept"), ("auto", "native")])
def test_a_chain_that_nobody_shares_is_no_wave(backend, decision):
    def chain(model, x, names):
        stack = [x]
        for name in names:
            stack.append(torch.tanh(model[name](stack.pop())))
        return stack[-1] * 1

    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
    lifted: Any = lift(chain, backend=backend)
    for _ in range(4):
        x = torch.randn(3)
        torch.testing.assert_close(lifted(model, x, "abbab"), chain(model, x, "abbab"))
    assert {loop.decision for loop in lifted.report().loops} == {decision}


def test_an_exception_is_that_of_the_loop():
    model, leaves = Expression(4), torch.randn(4, 4)
    lifted: Any = lift(evaluated)
    lifted(model, leaves, programs_of(0, 20, 5))
    for programs in (["1 +"], [""], ["7"], []):
        with pytest.raises(Exception) as wanted:
            evaluated(model, leaves, programs)
        with pytest.raises(type(wanted.value)) as given:
            lifted(model, leaves, programs)
        assert str(given.value) == str(wanted.value)


def test_what_is_lifted_inside_counts_where_it_is_faster():
    def sums(model, x, names):
        """A dict of modules by name keeps the outer loop; the inner one has many iterations."""
        seen = {}
        for name in names:
            total = torch.zeros(3)
            for row in x:
                total = total + torch.tanh(row)
            seen[name] = model[name](total)
        return [seen[name] * 2 for name in sorted(seen)]

    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
    lifted: Any = lift(sums)
    for _ in range(8):
        x = torch.randn(300, 3)
        torch.testing.assert_close(lifted(model, x, ["a", "b"]), sums(model, x, ["a", "b"]))


class Piece:
    """A dispatcher of one piece, as far as turns look at it."""

    def __init__(self):
        self.attempts, self.children, self.is_idle = 1, [], False
        self.variants = [SimpleNamespace(code=None, failures=0, call=len, verified=False, trials=None, is_slow=False)]


def test_turns_in_which_a_piece_fails_do_not_count():
    piece = Piece()
    (variant,) = piece.variants

    def pieces():
        if variant.call is not None:
            variant.failures += 1
        if variant.failures == 3:
            variant.call = None

    dispatcher: Any = SimpleNamespace(
        fallback=pieces, children=[piece], program=SimpleNamespace(original=len), hooked=None
    )
    trial = Trial(0.0, batched=[1.0, 1.0])
    for turn in range(1, 4):
        turn_of_pieces(dispatcher, trial, ())
        assert (trial.first_turns, trial.cold, trial.written) == (turn, [], [])
    assert trial.is_warm
    turn_of_pieces(dispatcher, trial, ())
    assert len(trial.written) == 1


def test_a_piece_that_was_not_compared_with_its_loop_is_not_settled():
    piece = Piece()
    dispatcher: Any = SimpleNamespace(
        fallback=list, children=[piece], program=SimpleNamespace(original=len), hooked=None
    )
    trial = Trial(0.0, batched=[1.0, 1.0])
    turn_of_pieces(dispatcher, trial, ())
    assert not trial.is_warm and len(trial.cold) == 1
    piece.variants[0].verified = True
    turn_of_pieces(dispatcher, trial, ())
    assert trial.is_warm and not trial.written


class Compiled(Piece):
    """A piece of which a part is compiled in each call, which takes as long as the test says."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def __call__(self):
        self.attempts += 1
        time.sleep(self.seconds)


def test_one_turn_of_pieces_that_takes_very_long_is_enough():
    piece = Compiled(0.25)
    dispatcher: Any = SimpleNamespace(
        fallback=piece, children=[piece], program=SimpleNamespace(original=len), hooked=None
    )
    trial = Trial(0.0, batched=[0.01, 0.01])
    turn_of_pieces(dispatcher, trial, ())
    assert trial.is_warm and len(trial.written) == 1
    assert 0.12 < trial.written[0] < 0.25, "half of it may be what the piece was compared with"
    assert trial.passed()


def test_what_a_turn_spends_on_compiling_is_no_part_of_it():
    piece = Compiled(0.05)

    def pieces():
        with Patience().compiling():
            piece()

    dispatcher: Any = SimpleNamespace(
        fallback=pieces, children=[piece], program=SimpleNamespace(original=len), hooked=None
    )
    trial = Trial(0.0, batched=[0.01, 0.01])
    turn_of_pieces(dispatcher, trial, ())
    assert not trial.cold and not trial.written and not trial.is_warm


def test_trials_that_begin_anew_in_a_turn():
    """As they do where the pieces call what is lifted again, or another thread does."""
    piece, trial = Piece(), Trial(0.0, batched=[1.0, 1.0])

    def pieces():
        piece.attempts += 1
        trial.begin_anew()
        return "a result"

    dispatcher: Any = SimpleNamespace(
        fallback=pieces, children=[piece], program=SimpleNamespace(original=len), hooked=None
    )
    assert turn_of_pieces(dispatcher, trial, ()) == "a result"
    assert trial.passed() is None


def test_pieces_of_which_nothing_is_lifted_are_the_loop():
    def pieces():
        raise AssertionError("what is lifted of nothing takes time only")

    piece, trial = Piece(), Trial(0.0, batched=[1.0])
    piece.is_idle = True
    program = SimpleNamespace(original=lambda: "as written")
    dispatcher: Any = SimpleNamespace(fallback=pieces, children=[piece], program=program, hooked=None)
    assert turn_of_pieces(dispatcher, trial, ()) == "as written"
    assert len(trial.written) == 1 and not trial.cold
    trial.as_written = 0.5
    assert not meets_the_loop(dispatcher, trial)


@pytest.mark.parametrize(("as_written", "meets"), [(0.5, True), (1.9, True), (2.1, False), (None, False)])
def test_what_beat_the_pieces_meets_the_loop_if_that_may_be_faster(as_written, meets):
    piece = Piece()
    program = SimpleNamespace(original=lambda: "as written")
    dispatcher: Any = SimpleNamespace(fallback=lambda: "pieces", children=[piece], program=program, hooked=None)
    trial = Trial(0.0, batched=[1.5, 1.0], written=[3.0, 3.0], is_warm=True, as_written=as_written)
    assert turn_of_pieces(dispatcher, trial, ()) == "pieces"
    assert meets_the_loop(dispatcher, trial) is meets
    assert turn_of_pieces(dispatcher, trial, ()) == ("as written" if meets else "pieces")
    trial.batched += [1.0]
    assert not meets_the_loop(dispatcher, trial)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_what_is_slower_than_the_loop_over_lists_is_left_to_it(backend):
    def table(rows, names):
        out = np.zeros((len(rows), len(names)))
        for i, row in enumerate(rows):
            for j, name in enumerate(names):
                out[i, j] = row[name]
        return out

    rows = [{"a": float(k), "b": float(k * k), "kind": "x"} for k in range(800)]
    lifted: Any = lift(table, backend=backend)
    for _ in range(12):
        np.testing.assert_array_equal(lifted(rows, ["a", "b"]), table(rows, ["a", "b"]))
    times: dict[Any, list[float]] = {lifted: [], table: []}
    for _ in range(20):
        for function, taken in times.items():
            start = time.perf_counter()
            function(rows, ["a", "b"])
            taken.append(time.perf_counter() - start)
    assert min(times[lifted]) < 2 * min(times[table])
