"""``isinstance`` of what a region is given: where more than the class of a value decides, it is asked in each call."""

import abc
import collections.abc
import itertools
import numbers
import typing

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


@typing.runtime_checkable
class Scaled(typing.Protocol):
    scale: float


class Registry(abc.ABC):
    pass


class ByValue(type):
    def __instancecheck__(cls, value):
        return getattr(value, "value", 0) > 1


class Large(metaclass=ByValue):
    pass


class ByTurns(type):
    turns = itertools.count()

    def __instancecheck__(cls, value):
        return next(cls.turns) % 2 == 0


class InTurn(metaclass=ByTurns):
    pass


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


class Liar:
    __class__ = property(lambda self: Holder if self.lies else Liar)

    def __init__(self, lies):
        self.lies = lies


def asked(value, kind, xs):
    out = []
    for x in xs:
        if isinstance(value, kind):
            out.append(x * 2)
        else:
            out.append(x + 1)
    return out


def summed(value, kind, x):
    total = torch.zeros(())
    for i in range(len(x)):
        total = total + (x[i] if isinstance(value, kind) else 3 * x[i])
    return total


def compare(function, rows, backend, kind, values):
    lifted = lift(function, backend=backend, verify="off")
    for value in values:
        assert lifted(value, kind, rows) == function(value, kind, rows), value
    return str(lifted.report())


ROWS = [(asked, [1.0, 2.5, -3.0]), (summed, torch.tensor([1.0, 2.5, -3.0]))]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "rows"), ROWS, ids=["list", "tensor"])
@pytest.mark.parametrize("kind", [Scaled, Large, Holder, (int, Scaled), Scaled | int, Holder | Large, Large | Holder])
def test_classes_that_look_at_values(function, rows, backend, kind):
    values = [Holder(scale=1.0, value=2), Holder(value=1), Holder(scale=2.0), Holder(value=3), 2, 2.0]
    report = compare(function, rows, backend, kind, values)
    if kind in (Scaled, Holder) and not (function is summed and backend == "native"):
        assert "runs code" not in report and "kept" not in report


@pytest.mark.parametrize("backend", BACKENDS)
def test_answers_that_take_turns(backend):
    ByTurns.turns = itertools.count()
    want = [asked(Holder(), InTurn, [1.0, 2.0, 3.0]) for _ in range(3)]
    ByTurns.turns = itertools.count()
    lifted = lift(asked, backend=backend, verify="off")
    assert [lifted(Holder(), InTurn, [1.0, 2.0, 3.0]) for _ in range(3)] == want
    assert "'isinstance'" in str(lifted.report())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "rows"), ROWS, ids=["list", "tensor"])
def test_values_that_say_another_class(function, rows, backend):
    compare(function, rows, backend, Holder, [Liar(False), Liar(True), Liar(False), Holder()])


@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_that_are_registered_later(backend):
    class Own(abc.ABC):
        pass

    class Value:
        pass

    lifted = lift(asked, backend=backend, verify="off")
    for value in (Value(), 2.5):
        assert lifted(value, Own, [1.0, 2.0]) == [2.0, 3.0]
    Own.register(Value)
    Own.register(float)
    for value in (Value(), 2.5):
        assert lifted(value, Own, [1.0, 2.0]) == [2.0, 4.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_that_get_a_check_of_their_own(backend):
    kind = type("Kind", (type,), {})("Kind", (), {})
    lifted = lift(asked, backend=backend, verify="off")
    assert lifted(2.0, kind, [1.0, 2.0]) == [2.0, 3.0]
    type(kind).__instancecheck__ = lambda cls, value: True
    assert lifted(2.0, kind, [1.0, 2.0]) == [2.0, 4.0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "rows"), ROWS, ids=["list", "tensor"])
def test_classes_of_libraries(function, rows, backend):
    kinds = [
        numbers.Number, collections.abc.Sequence, collections.abc.Sized, torch.Tensor, torch.nn.Parameter, int | float,
        (list, tuple), np.floating, torch.FloatTensor, typing.Optional[int], collections.abc.Callable,
    ]  # fmt: skip
    parameter = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    for kind in kinds:
        lifted = lift(function, backend=backend, verify="off")
        values = (2, 2.5, True, None, [1], (1.0,), "ab", torch.ones(2), parameter, np.float64(1), np.ones(2), len)
        for value in (*values, *values):
            assert lifted(value, kind, rows) == function(value, kind, rows), (kind, value)
        assert "runs code" not in str(lifted.report())
