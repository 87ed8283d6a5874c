"""Variants, failures and refusals, with batched statements that the tests write themselves."""

import threading
import warnings

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.errors import LoopliftWarning

X = torch.arange(1.0, 5.0)


def double(x):
    out = []
    for v in x:
        out.append(2 * v)
    return torch.stack(out)


def invert(values, log):
    total = 0.0
    for value in values:
        log.append(value)
        total += 1 / value
    return total


def record_of(lifted):
    return lifted.report().loops[0]


# ---------------------------------------------------------------- variants


def test_one_variant_for_each_kind(stand_in):
    stand_in.answer("double", "return 2 * x")
    lifted = lift(double)
    kinds = [
        X,
        X.double(),
        X.int(),
        X.reshape(2, 2),
        X[:1],
        X.clone().requires_grad_(),
        list(X),
        tuple(X),
        torch.nn.Parameter(X),
    ]
    for count, x in enumerate(kinds, 1):
        stand_in.answer("double", "return 2 * x" if isinstance(x, torch.Tensor) else "return 2 * torch.stack(list(x))")
        for _ in range(3):
            assert torch.equal(lifted(x), double(x))
        assert len(stand_in.seen) == count
    for x in kinds:
        assert torch.equal(lifted(x), double(x))
    assert len(stand_in.seen) == len(kinds)


def test_extents_are_no_variants(stand_in):
    stand_in.answer("double", "return 2 * x")
    lifted = lift(double)
    for n in range(2, 30):
        assert torch.equal(lifted(torch.arange(float(n))), 2 * torch.arange(float(n)))
    assert len(stand_in.seen) == 1


def test_modes_are_part_of_the_guard(stand_in):
    stand_in.answer("double", "return 2 * x")
    lifted = lift(double)
    lifted(X)
    with torch.no_grad():
        lifted(X)
    torch.set_default_dtype(torch.float64)
    try:
        lifted(X)
    finally:
        torch.set_default_dtype(torch.float32)
    lifted(X)
    assert len(stand_in.seen) == 3


def test_too_many_kinds_run_as_written(stand_in):
    @lift
    def count(x):
        n = 0
        for _ in x:
            n += 1
        return n

    stand_in.answer("count", "return len(x)")
    for size in range(1, 40):
        assert count(tuple(range(size))) == size
    assert len(stand_in.seen) == 16
    assert any("more than 16 kinds" in note for note in record_of(count).notes)


def test_guards_of_the_compiler(stand_in):
    @lift
    def scaled(x, k):
        out = []
        for v in x:
            out.append(v * k)
        return torch.stack(out)

    stand_in.answer("scaled", "return x * 3", guards=["k == three"], namespace={"three": 3})
    assert torch.equal(scaled(X, 3), X * 3)
    stand_in.answer("scaled", "return x * k")
    assert torch.equal(scaled(X, 4), X * 4)
    assert torch.equal(scaled(X, 3), X * 3)
    assert len(stand_in.seen) == 2


def test_guards_of_paths(stand_in):
    class Holder:
        def __init__(self, weight):
            self.weight = weight

        @lift
        def apply(self, x):
            return torch.stack([self.weight * v for v in x])

    stand_in.answer("apply", "return self.weight * x", paths=["self.weight"])
    for weight in (torch.tensor(2.0), torch.tensor(3.0), torch.tensor(2)):
        assert torch.equal(Holder(weight).apply(X), weight * X)
    assert len(stand_in.seen) == 2


def test_globals_and_helpers_are_guarded(stand_in, monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    monkeypatch.setitem(globals(), "helper", lambda v: v)

    @lift
    def scaled(x):
        return torch.stack([helper(v) * FACTOR for v in x])  # noqa: F821

    stand_in.answer("scaled", "return x * FACTOR")
    assert torch.equal(scaled(X), X * 2)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert torch.equal(scaled(X), X * 4)
    assert len(stand_in.seen) == 1
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert torch.equal(scaled(X), X * 4)
    assert len(stand_in.seen) == 2
    monkeypatch.setitem(globals(), "helper", lambda v: v + 1)
    stand_in.refuse("scaled")
    assert torch.equal(scaled(X), (X + 1) * 4)
    assert len(stand_in.seen) == 3


def test_local_helpers_are_new_at_each_call(stand_in):
    @lift
    def scaled(x, k):
        def helper(v):
            return torch.flatten(v * k)[0]

        return torch.stack([helper(v) for v in x])

    stand_in.answer("scaled", "return x * helper.__closure__[0].cell_contents")
    for _ in range(4):
        assert torch.equal(scaled(X, 2), X * 2)
    assert len(stand_in.seen) == 1
    assert torch.equal(scaled(X, 3), X * 3)
    assert len(stand_in.seen) == 2


def test_builtins_can_be_shadowed_later(stand_in, monkeypatch):
    @lift
    def count(x):
        n = 0
        for i in range(len(x)):
            n += i
        return n

    stand_in.answer("count", "return len(x) * (len(x) - 1) // 2")
    assert count([5, 6, 7]) == 3
    monkeypatch.setitem(globals(), "range", lambda n: [0])
    stand_in.refuse("count")
    assert count([5, 6, 7]) == 0


# ---------------------------------------------------------------- failures


def test_a_requirement_that_fails_raises_the_original_exception(stand_in):
    stand_in.answer(
        "invert",
        "if any(value == 0 for value in values):",
        "    raise RequirementFailed('division by zero')",
        "log.extend(values)",
        "return sum(1 / value for value in values)",
        mutated=["log"],
    )
    lifted = lift(invert)
    log = []
    assert lifted([1.0, 2.0], log) == 1.5 and log == [1.0, 2.0]
    log = []
    with pytest.raises(ZeroDivisionError, match="float division by zero") as raised:
        lifted([1.0, 0.0, 2.0], log)
    assert log == [1.0, 0.0]
    assert raised.value.__context__ is None and raised.value.__cause__ is None
    assert raised.traceback[-1].name == "invert" and str(raised.traceback[-1].path) == __file__
    assert lifted([4.0], log) == 0.25
    assert record_of(lifted).decision == "lanes"


def test_three_failures_in_a_row_give_up(stand_in):
    stand_in.answer("double", "if float(x[0]) == 0:\n    raise RequirementFailed('zero')\nreturn 2 * x")
    lifted = lift(double)
    lifted(X)
    zero = torch.zeros(3)
    for _ in range(2):
        lifted(zero)
    assert record_of(lifted).decision == "lanes"
    lifted(X)  # success in between
    for _ in range(2):
        lifted(zero)
    assert record_of(lifted).decision == "lanes"
    lifted(zero)
    assert (record_of(lifted).decision, record_of(lifted).code) == ("kept", "requirement")
    assert torch.equal(lifted(X), 2 * X)


def test_what_is_given_up_goes_to_its_pieces(stand_in):
    def sums(x):
        out = torch.zeros(len(x))
        for i in range(len(x)):
            total = 0.0
            for j in range(len(x)):
                total = total + x[j]
            out[i] = total
        return out

    stand_in.answer("sums", "raise RequirementFailed('never')", line=1)
    stand_in.answer("sums", "out[i] = x.sum()", line=3, mutated=["out"])
    lifted = lift(sums)
    for _ in range(12):
        assert torch.equal(lifted(X), X.sum().expand(len(X)))
    decisions = {record.line: record.decision for record in lifted.report().loops}
    assert [decision for _, decision in sorted(decisions.items())] == ["kept", "lanes"]


@pytest.mark.internal
def test_a_defect_in_emitted_code_runs_the_original(stand_in):
    stand_in.answer("double", "return 2 * y")
    lifted = lift(double)
    for _ in range(5):
        assert torch.equal(lifted(X), 2 * X)
    assert record_of(lifted).code == "internal" and "NameError" in record_of(lifted).reason


def test_interrupts_pass_through(stand_in):
    stand_in.answer("double", "raise KeyboardInterrupt")
    lifted = lift(double)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            lifted(X)


def test_early_commits_are_undone(stand_in):
    @lift(verify="off")
    def bump(x, rows, table, array):
        for i in range(len(x)):
            x[i] += 1
            rows.append(i)
            table[i] = i
            array[i] = 1 / array[i]

    stand_in.answer(
        "bump",
        "x += 1; rows.extend(range(len(x))); table.update((i, i) for i in range(len(x))); array[:] = 7",
        "raise RequirementFailed('late')",
        mutated=["x", "rows", "table", "array"],
        commits_early=True,
    )
    x, rows, table, array = X.clone(), [], {}, np.ones(4)
    bump(x, rows, table, array)
    assert torch.equal(x, X + 1) and rows == [0, 1, 2, 3] == list(table) and array.tolist() == [1.0] * 4


def test_random_state_is_put_back(stand_in):
    def noisy(x):
        out = []
        for v in x:
            out.append(v + torch.rand(()) + float(np.random.rand()))
        return torch.stack(out)

    stand_in.answer("noisy", "torch.rand(9); np.random.rand(9)", "raise RequirementFailed('late')", random=True)
    for verify in ("off", "first", "always"):
        lifted = lift(noisy, verify=verify)
        for _ in range(5):
            torch.manual_seed(1), np.random.seed(1)
            want = noisy(X)
            after = torch.rand(1)
            torch.manual_seed(1), np.random.seed(1)
            assert torch.equal(lifted(X), want) and torch.equal(torch.rand(1), after)


# ---------------------------------------------------------------- refusals


def nest(x, steps):
    state = torch.zeros_like(x)
    for step in range(steps):
        state = torch.tanh(state * 0.5 + step)
        rows = []
        for i in range(len(x)):
            rows.append(state[i] * x[i])
        state = torch.stack(rows)
    return state


def test_inside_a_loop_that_stays(stand_in):
    stand_in.refuse("nest", at=2)
    stand_in.answer("nest", "state = state * x", line=4)
    lifted = lift(nest)
    assert torch.equal(lifted(X, 3), nest(X, 3))
    outer, inner = lifted.report().loops
    assert (outer.decision, outer.code, inner.decision) == ("kept", "carried", "lanes")
    assert "state = state * x" in lifted.source and "for step in range(steps):" in lifted.source
    scope = {}
    exec(lifted.source, scope)
    assert torch.equal(scope["nest"](X, 3), nest(X, 3))


def test_smaller_regions_one_after_the_other(stand_in):
    lifted = lift(nest)
    for _ in range(3):
        assert torch.equal(lifted(X, 3), nest(X, 3))
    assert {name for name, _, _ in stand_in.seen} == {"nest"}
    assert all(record.decision == "kept" and record.code == "unknown-op" for record in lifted.report().loops)
    settled = len(stand_in.seen)
    lifted(X, 3)
    assert len(stand_in.seen) == settled


def test_a_refused_kind_does_not_spoil_another(stand_in):
    stand_in.refuse("double")
    lifted = lift(double)
    lifted(X)
    assert record_of(lifted).decision == "kept"
    stand_in.answer("double", "return 2 * x")
    assert torch.equal(lifted(X.double()), 2 * X.double())
    assert record_of(lifted).decision == "lanes"
    assert torch.equal(lifted(X), 2 * X)
    assert len(stand_in.seen) == 2 + 1  # the refused kind also without its trailing statement


def test_small_loops_are_tried_again_when_they_grow(stand_in):
    stand_in.refuse("double", code="too-small")
    lifted = lift(double)
    lifted(X), lifted(X)
    assert len(stand_in.seen) == 1
    stand_in.answer("double", "return 2 * x")
    lifted(torch.ones(100))
    assert len(stand_in.seen) == 2 and record_of(lifted).decision == "lanes"


def test_iterators_and_subclasses_are_refused_before_they_are_touched(stand_in):
    stand_in.answer("double", "return 2 * x")
    lifted = lift(double)
    assert torch.equal(lifted(iter(X)), 2 * X)
    assert record_of(lifted).code == "unsupported-iterable"
    lifted.clear()

    class Own(torch.Tensor):
        pass

    assert torch.equal(lifted(X.as_subclass(Own)).as_subclass(torch.Tensor), 2 * X)
    assert record_of(lifted).code == "subclass" and not stand_in.seen


# ---------------------------------------------------------------- names and their bindings


def test_names_that_may_not_be_bound(stand_in):
    @lift
    def last(x, start):
        if start:
            best = -1
        for v in x:
            if v > 2:
                best = v
        return best

    for _ in range(2):
        assert last([1, 2, 3], True) == 3 and last([1], True) == -1 and last([3], False) == 3
        with pytest.raises(UnboundLocalError, match="best"):
            last([1], False)


def test_loop_variables_after_the_loop(stand_in):
    @lift
    def position(x):
        for i in range(len(x)):
            if x[i] > 2:
                break
        other = [i]
        other.sort(key=lambda k: k)
        print(other)
        return i

    for _ in range(2):
        assert position(X) == 2
        with pytest.raises(UnboundLocalError):
            position(X[:0])


# ---------------------------------------------------------------- threads


def test_many_threads(stand_in):
    stand_in.answer("double", "return 2 * x")
    lifted = lift(double)
    results, kinds = [], [X, X.double(), X.int(), X[:1]]

    def work(k):
        for step in range(50):
            x = kinds[(k + step) % 4]
            results.append(torch.equal(lifted(x), 2 * x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(results) == 400 and all(results)
    assert len(stand_in.seen) == 4


def test_no_warnings_when_all_is_well(stand_in):
    stand_in.answer("double", "return 2 * x")
    with warnings.catch_warnings():
        warnings.simplefilter("error", LoopliftWarning)
        lift(double)(X)
