"""Attributes of objects and network modules that loops set: held as names are, and set at the end."""

import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from looplift import lift


class Cell(nn.Module):
    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.W, self.U, self.out = nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 2)

    def start(self):
        self.h = torch.zeros(6)

    def step(self, x):
        self.h = torch.tanh(self.W(x) + self.U(self.h))
        return self.out(self.h)

    def forward(self, xs):
        self.h = torch.zeros(6)
        for t in range(len(xs)):
            self.h = torch.tanh(self.W(xs[t]) + self.U(self.h))
        return self.h


class Box:
    def __init__(self, h):
        self.h, self.count = h, 0


def outputs(cell, xs):
    cell.start()
    ys = []
    for x in xs:
        ys.append(cell.step(x))
    return torch.stack(ys)


def of_batch(cell, batch):
    out = []
    for k in range(len(batch)):
        out.append(cell(batch[k]))
    return torch.stack(out)


def losses(box, xs, ys):
    for i in range(len(xs)):
        box.h = box.h + (xs[i] - ys[i]) ** 2
        box.count += 1
    return box.h / box.count


def older(box, xs):
    out = torch.zeros(len(xs))
    for i in range(len(xs)):
        before = box.h
        box.h = xs[i] * 2
        out[i] = before
    return out


def of_two(a, b, xs):
    out = torch.zeros(len(xs))
    for i in range(len(xs)):
        a.h = a.h + xs[i]
        out[i] = b.h * xs[i]
    return out


def raising(box, xs, last):
    for i in range(len(xs)):
        box.h = box.h + xs[i]
        box.count = i
        if i == last:
            raise ValueError(f"at {i}")


def last_of(box, xs):
    for x in xs:
        box.found = x * 2


class Log:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)


def logged(log, xs):
    total = torch.zeros(())
    for x in xs:
        log.add(x * 2)
        total = total + x
    return total


def of_two_logs(a, b, xs):
    for x in xs:
        a.add(x + 1)
        b.add(x - 1)


def counted(log, xs):
    for x in xs:
        log.add(x * len(log.values))


def from_an_environment(cell, xs):
    out = []
    for x in xs:
        h = cell.reset(x * 1)
        out.append(h * 2)
    return torch.stack(out)


class Environment:
    def reset(self, x):
        self.h = x
        return self.h


def in_turn(a, b, xs):
    out = torch.zeros(len(xs))
    for i in range(len(xs)):
        a.h = a.h + xs[i]
        out[i] = a.h
    a = b
    for i in range(len(xs)):
        a.h = a.h * 2
        out[i] = out[i] + a.h
    return out


def numbers(seed=0, count=9):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


def decisions(lifted):
    return {one.decision for one in lifted.report().loops}


def state(box):
    return dict(vars(box))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("verify", ["off", "first"])
def test_the_state_of_a_network_module_is_carried(backend, verify):
    lifted, cell = lift(outputs, backend=backend, verify=verify), Cell()
    expected = copy.deepcopy(cell)
    for count in (5, 3, 5):
        xs = numbers(count, count * 4).view(count, 4)
        assert_close(lifted(cell, xs), outputs(expected, xs))
        assert_close(cell.h, expected.h)
    assert decisions(lifted) == {"sequential"}


def test_gradients_flow_through_what_is_set():
    lifted, cell = lift(outputs, verify="off"), Cell()
    expected = copy.deepcopy(cell)
    xs = numbers(1, 20).view(5, 4)
    (lifted(cell, xs).sum() + cell.h.sum()).backward()
    (outputs(expected, xs).sum() + expected.h.sum()).backward()
    for one, other in zip(cell.parameters(), expected.parameters(), strict=True):
        assert_close(one.grad, other.grad)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_a_module_that_sets_its_state_first_runs_for_a_whole_batch(backend):
    lifted, cell = lift(of_batch, backend=backend, verify="off"), Cell()
    expected = copy.deepcopy(cell)  # neither has the attribute before its first call
    for count in (3, 4, 3):
        batch = numbers(count, count * 20).view(count, 5, 4)
        assert_close(lifted(cell, batch), of_batch(expected, batch))
        assert_close(cell.h, expected.h)
    assert "lanes" in decisions(lifted)
    fresh = Cell(1)
    assert lifted(fresh, torch.zeros(1, 0, 4)).shape == (1, 6)
    assert_close(fresh.h, torch.zeros(6))


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("verify", ["off", "first"])
def test_plain_objects_are_lanes(backend, verify):
    lifted = lift(losses, backend=backend, verify=verify)
    for seed in range(3):
        box, expected = Box(torch.ones(())), Box(torch.ones(()))
        assert_close(lifted(box, numbers(seed), numbers(7)), losses(expected, numbers(seed), numbers(7)))
        assert_close(state(box), state(expected))
    assert decisions(lifted) == {"lanes"}
    assert not any("not verified" in note for one in lifted.report().loops for note in one.notes)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_what_an_attribute_held_before_is_read(backend):
    lifted = lift(older, backend=backend, verify="off")
    for start in (torch.ones(()), torch.zeros(()), 0.5, torch.ones(())):
        box, expected = Box(start), Box(start)
        assert_close(lifted(box, numbers()), older(expected, numbers()))
        assert_close(state(box), state(expected))
    assert "kept" not in decisions(lifted)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_a_name_that_is_bound_to_another_object(backend):
    lifted = lift(in_turn, backend=backend, verify="off")
    for _ in range(2):
        boxes, expected = ([Box(torch.ones(())), Box(torch.zeros(()))] for _ in range(2))
        assert_close(lifted(*boxes, numbers()), in_turn(*expected, numbers()))
        assert_close([state(one) for one in boxes], [state(one) for one in expected])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_one_object_under_two_names(backend):
    lifted = lift(of_two, backend=backend, verify="off")
    for same in (False, True, False):
        boxes, expected = ([Box(torch.ones(())), Box(torch.ones(()))] for _ in range(2))
        if same:
            boxes[1], expected[1] = boxes[0], expected[0]
        assert_close(lifted(*boxes, numbers()), of_two(*expected, numbers()))
        assert_close([state(one) for one in boxes], [state(one) for one in expected])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_an_exception_leaves_what_the_loop_leaves(backend):
    lifted = lift(raising, backend=backend, verify="off")
    for last in (20, 4, 0, 20):
        box, expected = Box(torch.ones(())), Box(torch.ones(()))
        for function, one in ((raising, expected), (lifted, box)):
            if last < 9:
                with pytest.raises(ValueError, match=f"at {last}"):
                    function(one, numbers(), last)
            else:
                function(one, numbers(), last)
        assert_close(state(box), state(expected))


def test_nothing_is_set_where_the_loop_has_no_iteration():
    lifted = lift(last_of, verify="off")
    for count in (3, 0, 2):
        box = Box(0)
        lifted(box, torch.ones(count))
        assert hasattr(box, "found") == (count > 0)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("verify", ["off", "first"])
def test_lists_that_objects_hold_grow(backend, verify):
    lifted, log, expected = lift(logged, backend=backend, verify=verify), Log(), Log()
    held = log.values
    for count in (4, 0, 3):
        assert_close(lifted(log, numbers(count, count)), logged(expected, numbers(count, count)))
    assert log.values is held
    assert_close(held, expected.values)
    assert "kept" not in decisions(lifted)


@pytest.mark.parametrize("function", [of_two_logs, counted])
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_lists_that_are_read_or_may_be_one(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for same in (False, True, False):
        logs, expected = [Log(), Log()], [Log(), Log()]
        if same:
            logs[1].values, expected[1].values = logs[0].values, expected[0].values
        if function is counted:
            del logs[1], expected[1]
        function(*expected, numbers())
        lifted(*logs, numbers())
        assert_close([one.values for one in logs], [one.values for one in expected])


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_what_a_method_sets_and_returns(backend):
    lifted, made, expected = lift(from_an_environment, backend=backend, verify="off"), Environment(), Environment()
    assert_close(lifted(made, numbers()), from_an_environment(expected, numbers()))
    assert_close(made.h, expected.h)


class Checked(Box):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Computed:
    total = 0.0

    @property
    def h(self):
        return self.total

    @h.setter
    def h(self, value):
        self.total = value * 3


def test_a_class_may_change_how_attributes_are_set(monkeypatch):
    lifted = lift(losses, verify="off")
    for change in (None, "__setattr__", None, "h"):
        with monkeypatch.context() as patch:
            if change == "__setattr__":
                patch.setattr(Box, change, lambda self, name, value: object.__setattr__(self, name, value * 2))
            box, expected = Box(torch.ones(())), Box(torch.ones(()))
            if change == "h":
                patch.setattr(Box, change, property(lambda self: 2.0, lambda self, value: None), raising=False)
            assert_close(lifted(box, numbers(), numbers(7)), losses(expected, numbers(), numbers(7)))
            assert_close(state(box), state(expected))


@pytest.mark.parametrize("made", [lambda: Checked(torch.ones(())), Computed])
def test_setting_that_runs_code_stays_as_written(made):
    lifted, box, expected = lift(losses, verify="off"), made(), made()
    for one in (box, expected):
        one.count = 0
    assert_close(lifted(box, numbers(), numbers(7)), losses(expected, numbers(), numbers(7)))
    assert_close(state(box), state(expected))


def test_verification_puts_attributes_back(monkeypatch):
    """A verified call whose batched code gives something else leaves what the loop leaves."""
    from looplift.runtime import verification

    monkeypatch.setattr(verification, "difference", lambda *args, **kwargs: "made up")
    lifted, box, expected = lift(losses, backend="torch", verify="first"), Box(torch.ones(())), Box(torch.ones(()))
    with pytest.warns(UserWarning):
        found = lifted(box, numbers(), numbers(7))
    assert_close(found, losses(expected, numbers(), numbers(7)))
    assert_close(state(box), state(expected))
