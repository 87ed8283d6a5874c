"""The comparison with the loop on the first call: what it finds, and that nobody can see that it took place."""

import random
import time
import warnings

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.errors import LoopliftWarning
from looplift.runtime.snapshot import copied

X = torch.arange(1.0, 5.0)


def double(x):
    out = []
    for v in x:
        out.append(2 * v)
    return torch.stack(out)


def test_a_mismatch_keeps_the_loop_and_warns_once(stand_in):
    stand_in.answer("double", "return 2 * x + (x > 3)")
    lifted = lift(double)
    with pytest.warns(LoopliftWarning, match="different results"):
        assert torch.equal(lifted(X), 2 * X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(lifted(X), 2 * X)
    record = lifted.report().loops[0]
    assert (record.decision, record.code) == ("kept", "verification")
    assert "as written" in lifted.source


@pytest.mark.parametrize(
    "wrong",
    [
        "return x.double() * 2",
        "return 2 * x[None]",
        "return 2 * x.requires_grad_(False).clone().requires_grad_()",
        "return [2 * x]",
    ],
)
def test_kinds_are_compared(stand_in, wrong):
    stand_in.answer("double", wrong)
    with pytest.warns(LoopliftWarning):
        assert torch.equal(lift(double)(X), 2 * X)


def shift(x, log, extra):
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1]
        log.append(float(x[i]))
        print("step", i)
    return x


SHIFT = (
    "x[:] = x.cumsum(0)",
    "log.extend(x[1:].tolist())",
    "print('\\n'.join(f'step {i}' for i in range(1, len(x))))",
    "return x",
)


def test_effects_happen_once(stand_in, capsys):
    stand_in.answer("shift", *SHIFT, mutated=["x", "log"])
    lifted = lift(shift)
    for _ in range(2):
        x, log = X.clone(), []
        assert lifted(x, log, None) is x
        assert x.tolist() == [1, 3, 6, 10] and log == [3, 6, 10]
        assert capsys.readouterr().out == "step 1\nstep 2\nstep 3\n"
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_wrong_effects_are_undone(stand_in, capsys, place):
    statements = list(SHIFT)
    statements[place] = ["x[1:] += 1", "log.append(0.0)", "print('something')"][place]
    stand_in.answer("shift", *statements, mutated=["x", "log"])
    x, log = X.clone(), []
    with pytest.warns(LoopliftWarning):
        assert lift(shift)(x, log, None) is x
    assert x.tolist() == [1, 3, 6, 10] and log == [3, 6, 10]
    assert capsys.readouterr().out == "step 1\nstep 2\nstep 3\n"


def test_shared_memory_is_shared_in_the_copy(stand_in):
    def through_view(x, view, rows):
        for i in range(len(x)):
            x[i] = 2 * view[i] + rows[0][i]
        return view

    stand_in.answer("through_view", "x[:] = 2 * view + rows[0]", "return view", mutated=["x"])
    lifted = lift(through_view)
    base = X.clone()
    view = base[:]
    assert lifted(base, view, [view]) is view
    assert base.tolist() == (3 * X).tolist()
    assert lifted.report().loops[0].decision == "lanes"


def test_generators_are_compared(stand_in):
    def noisy(x):
        out = []
        for v in x:
            out.append(v + torch.rand(()) + random.random() + np.random.rand())
        return torch.stack(out)

    stand_in.answer(
        "noisy",
        "return torch.stack([v + torch.rand(()) + __import__('random').random() + np.random.rand() for v in x])",
        random=True,
    )
    lifted = lift(noisy)
    for _ in range(2):
        torch.manual_seed(1), np.random.seed(1), random.seed(1)
        want = noisy(X), torch.rand(1), random.random(), np.random.rand()
        torch.manual_seed(1), np.random.seed(1), random.seed(1)
        got = lifted(X), torch.rand(1), random.random(), np.random.rand()
        assert all(float((g - w).sum() if isinstance(g, torch.Tensor) else g - w) == 0 for g, w in zip(got, want))
    assert lifted.report().loops[0].decision == "lanes"


def test_exceptions_of_the_loop_count(stand_in):
    def check(x):
        total = 0
        for v in x:
            assert v > 0, "negative"
            total += v
        return total

    stand_in.answer("check", "return sum(x)")
    lifted = lift(check)
    with pytest.warns(LoopliftWarning, match="the loop raises AssertionError"), pytest.raises(AssertionError):
        lifted([1, -1])
    stand_in.answer("check", "if min(x) <= 0: raise RequirementFailed('negative')", "return sum(x)")
    lifted = lift(check)
    with pytest.raises(AssertionError):
        lifted([1, -1])
    assert lifted([1, 2]) == 3
    assert lifted.report().loops[0].decision == "lanes"


def slow(x):
    out = []
    for v in x:
        time.sleep(0.005)
        out.append(2 * v)
    return torch.stack(out)


def test_the_budget(stand_in):
    stand_in.answer("slow", "return 2 * x")
    lifted = lift(slow)
    x = torch.ones(200)
    assert torch.equal(lifted(x), 2 * x)
    record = lifted.report().loops[0]
    assert record.decision == "lanes" and any("longer than 50 ms" in note for note in record.notes)
    assert 0.5 < record.original_seconds < 60


def test_always_and_off(stand_in):
    stand_in.answer("double", "return 2 * x + (x > 100)")
    checked, unchecked = lift(double, verify="always"), lift(double, verify="off")
    assert torch.equal(checked(X), 2 * X) and torch.equal(unchecked(X), 2 * X)
    large = torch.full((4,), 200.0)
    with pytest.warns(LoopliftWarning):
        assert torch.equal(checked(large), 2 * large)
    assert torch.equal(unchecked(large), 2 * large + 1)


def test_loops_that_must_not_run_twice(stand_in):
    sent = []

    def send(x):
        for v in x:
            sent.append(v)

    stand_in.answer("send", "sent.extend(x)", repeatable=False)
    lifted = lift(send)
    lifted([1, 2])
    assert sent == [1, 2]
    assert any("must not happen twice" in note for note in lifted.report().loops[0].notes)


def test_gradients_survive(stand_in):
    stand_in.answer("double", "return 2 * x")
    x = X.clone().requires_grad_()
    lift(double)(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2, 2]


def test_what_was_rounded_to_a_narrow_type_is_compared_as_such():
    """float64 arrays of float32 sums differ by float32's rounding; what was never rounded is compared tightly."""
    import numpy as np

    from looplift.base.compare import difference

    exact, rough = np.array([1.0, 2.0]), np.array([1.0, 2.0 * (1 + 1e-6)])
    assert difference({"out": rough}, {"out": exact}) is not None
    narrow = {"values['out']": "float32"}
    assert difference({"out": rough}, {"out": exact}, path="values", narrow=narrow) is None
    assert difference({"sum": rough}, {"sum": exact}, path="values", narrow=narrow) is not None
    worse = np.array([1.0, 2.0 * (1 + 1e-3)])
    assert difference({"out": worse}, {"out": exact}, path="values", narrow=narrow) is not None


def running_totals(x):
    totals, kept = [0.0] * 3, [0.0]

    def count(place, value):
        totals[place] += value
        kept[0] = 0.5 * kept[0] + totals[place]

    for i in range(len(x)):
        count(i % 3, x[i])
        totals[(i + 1) % 3] *= 0.5
    return totals, kept


@pytest.mark.parametrize("seconds", [0.05, 0.0])
def test_functions_over_what_is_written_see_the_copies(seconds, monkeypatch):
    monkeypatch.setattr("looplift.runtime.verification.verified_call.__kwdefaults__", {"seconds": seconds})
    numbers = [float(k) for k in range(40)]
    lifted = lift(running_totals)
    for _ in range(3):
        assert lifted(numbers) == running_totals(numbers)
    assert [loop.decision for loop in lifted.report().loops] == ["native"]


def test_what_a_local_function_closes_over_is_copied_with_it():
    """The loop that runs for comparison, on copies, must not change what the function sees, nor miss its changes."""

    def groups(n, pairs):
        parent = list(range(n))
        seen = [0] * n

        def find(x):
            seen[x] += 1
            while parent[x] != x:
                parent[x] = parent[parent[x]]
                x = parent[x]
            return x

        joined = 0
        for a, b in pairs:
            a, b = find(a), find(b)
            if a != b:
                parent[b] = a
                joined += 1
        return joined, parent, seen

    pairs = [[(7 * k) % 20, (3 * k + 1) % 20] for k in range(30)]
    lifted = lift(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert lifted(20, pairs) == groups(20, pairs)


@pytest.mark.parametrize("grad", [True, False])
def test_what_is_taken_of_copies_of_views_asks_for_gradients_as_what_is_taken_of_them_does(grad):
    def rows(x, m):
        found = []
        for _ in range(m):
            for j, _row in enumerate(x):
                if j == 0:
                    pass
                found.append(x[j,])
        return found

    lifted = lift(rows)
    with warnings.catch_warnings(), torch.set_grad_enabled(grad):
        warnings.simplefilter("error")
        for x in (torch.randn(3, 2).t(), torch.randn(3, 2), torch.randn(6, 4)[::2]):
            x.requires_grad_()
            for _ in range(2):
                assert [t.requires_grad for t in lifted(x, 2)] == [t.requires_grad for t in rows(x, 2)]
    with torch.set_grad_enabled(grad):
        leaf = torch.randn(3, 2).t().requires_grad_()
        row = leaf[0]
        (made,) = copied({"row": row}, ["row"]).values()
        assert made.requires_grad == row.requires_grad


def test_views_of_leaves_where_gradients_are_off_ask_for_them_as_the_originals_do():
    x = torch.randn(4, 3, requires_grad=True)
    with torch.no_grad():
        row = x[1]
        copies = copied({"row": row, "found": [row]}, ["row", "found"])
        assert copies["row"].requires_grad == row.requires_grad
        assert copies["row"][0].requires_grad == row[0].requires_grad
        assert copies["found"][0][:2].requires_grad == row[:2].requires_grad
    plain = torch.randn(4, 3)[1]
    with torch.no_grad():
        assert not copied({"plain": plain}, ["plain"])["plain"][0].requires_grad


def test_gradients_of_earlier_passes_are_on_the_copies_too():
    """A loop that is compared on leaves which were trained on before is no other loop."""
    rows = [torch.randn(3, requires_grad=True) for _ in range(2)]
    rows[0].sum().backward()
    (copies,) = copied({"rows": rows}, ["rows"]).values()
    assert rows[0].grad is not None and torch.equal(copies[0].grad, rows[0].grad) and copies[1].grad is None
    copies[0].grad.zero_()
    assert torch.equal(rows[0].grad, torch.ones(3))
