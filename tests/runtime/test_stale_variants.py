"""What a variant was made for changes between calls: functions, dtypes, parts of modules, kinds of list items."""

import functools
import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from looplift import lift

X = torch.arange(8.0).reshape(4, 2)


def plus_one(v):
    return v + 1


def plus_two(v):
    return v + 2


def check(function, *arguments):
    """A function that was lifted before gives what the loop gives."""
    want = function.__looplift_original__(*arguments)
    got = function(*arguments)
    assert type(got) is type(want)
    if isinstance(want, list):
        assert [*map(type, got)] == [*map(type, want)]
        assert got == want
    else:
        torch.testing.assert_close(got, want)


def lifted(function) -> Any:
    return lift(function, verify="off")


# ---------------------------------------------------------------- functions and dtypes that objects hold


def held_by_an_object(holder, x):
    out = []
    for i in range(x.shape[0]):
        out.append(holder.op(x[i]))
    return torch.stack(out)


def test_a_function_that_an_object_holds():
    run = lifted(held_by_an_object)
    made = [functools.partial(torch.mul, 2), functools.partial(torch.mul, 3)]
    for op in (torch.sin, torch.cos, plus_one, plus_two, nn.ReLU(), nn.Tanh(), *made):
        check(run, SimpleNamespace(op=op), X)
    assert run.report().loops[0].decision == "lanes"


class Static:
    op = staticmethod(plus_one)


def test_a_function_that_a_class_holds():
    run = lifted(held_by_an_object)
    check(run, Static(), X)
    Static.op = staticmethod(plus_two)
    check(run, Static(), X)
    setattr(Static, "op", classmethod(lambda cls, v: v * 5))
    check(run, Static(), X)


def held_by_a_dict(table, x):
    out = []
    for i in range(x.shape[0]):
        value = x[i]
        for op in table["ops"]:
            value = op(value)
        out.append(table["last"](value))
    return torch.stack(out)


def test_functions_in_lists_and_dicts():
    run = lifted(held_by_a_dict)
    for last, *ops in ((torch.sin, torch.exp), (torch.cos, torch.exp), (torch.cos, plus_one), (torch.cos, torch.neg)):
        check(run, {"ops": ops, "last": last}, X)


def of_dtype(holder, x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i].to(holder.dtype))
    return torch.stack(out)


def test_a_dtype_that_an_object_holds():
    run = lifted(of_dtype)
    for dtype in (torch.float64, torch.int32, torch.float16):
        check(run, SimpleNamespace(dtype=dtype), X)


class Activated(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.sin
        self.scale = 2.0

    @property
    def doubled(self):
        return self.scale * 2

    def shifted(self, v):
        return v + self.scale

    def forward(self, v):
        return self.act(v) * self.doubled


def through(module, x):
    out = []
    for i in range(x.shape[0]):
        out.append(module(x[i]) + module.shifted(x[i]))
    return torch.stack(out)


def test_parts_of_a_module():
    run, module = lifted(through), Activated()
    check(run, module, X)
    for change in ({"act": torch.cos}, {"act": nn.Tanh()}, {"scale": 3.0}, {"shifted": plus_one}, {"scale": 4.0}):
        for name, value in change.items():
            setattr(module, name, value)
        check(run, module, X)
    del module.shifted
    Activated.shifted = lambda self, v: v * self.scale
    check(run, module, X)
    setattr(Activated, "doubled", property(lambda self: self.scale - 1))
    check(run, module, X)
    assert run.report().loops[0].decision == "lanes"


class Called(nn.Module):
    def forward(self, v):
        return v * 2

    def __call__(self, v):
        return super().__call__(v) + 1


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    @property
    def doubled(self):
        self.count += 1
        return float(self.count)

    shifted = staticmethod(plus_one)

    def forward(self, v):
        return v * self.doubled


def test_code_that_a_call_or_an_attribute_of_a_module_runs():
    run = lifted(held_by_an_object)
    check(run, SimpleNamespace(op=Called()), X)
    run, module = lifted(through), Counting()
    want = through(Counting(), X)
    torch.testing.assert_close(run(module, X), want)
    assert module.count == 4


def test_a_sequence_of_modules_that_grows():
    run, stack = lifted(held_by_an_object), nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    holder = SimpleNamespace(op=stack)
    check(run, holder, X)
    stack.append(nn.Linear(2, 3))
    check(run, holder, X)
    stack[1] = nn.Tanh()
    check(run, holder, X)
    del stack[2]
    check(run, holder, X)


# ---------------------------------------------------------------- signatures


def decorated(function):
    @functools.wraps(function)
    def wrapper(v, factor=4.0):
        return function(v, factor)

    return wrapper


@decorated
def scaled(v, factor=2.0):
    return v * factor


def shows_another(v, factor=2.0):
    return v * factor


shows_another.__signature__ = inspect.signature(lambda v, factor=7.0: None)  # pyright: ignore


@pytest.mark.parametrize("function", [scaled, shows_another])
def test_the_default_of_a_wrapper_counts(function):
    check(lifted(held_by_an_object), SimpleNamespace(op=function), X)


# ---------------------------------------------------------------- what lists hold


def doubled_pairs(numbers):
    out = []
    for number in numbers:
        out.append((1, number * 2))
    return out


def doubled(numbers):
    out = []
    for number in numbers:
        out.append(number * 2)
    return out


def test_numbers_of_several_types():
    for function in (doubled_pairs, doubled):
        run: Any = lift(function, verify="off", backend="torch")
        calls = ([1.0, 2.0], [1.0, 2], [1, 2], [1, True], [1.0, True], [True, True], [1.0, torch.tensor(2.0)])
        for numbers in calls:
            assert repr(run(numbers)) == repr(function(numbers))


def test_tensors_of_which_some_require_a_gradient():
    run = lifted(doubled)
    plain, leaf = torch.ones(2), torch.ones(2, requires_grad=True)
    for items in ([plain, plain], [plain, leaf], [leaf, plain], [leaf, leaf]):
        assert [item.requires_grad for item in run(items)] == [item.requires_grad for item in items]


def applied(pairs, x):
    out = []
    for i in range(x.shape[0]):
        value = x[i]
        for op, factor in pairs:
            value = op(value) * factor
        out.append(value)
    return torch.stack(out)


def test_tuples_of_another_length():
    run = lifted(applied)
    check(run, [(torch.sin, 2.0), (torch.cos, 3.0)], X)
    with pytest.raises(ValueError, match="too many values to unpack"):
        run([(torch.sin, 2.0), (torch.cos, 3.0, 4.0)], X)
    check(run, [(torch.sin, 2.0), [torch.cos, 3.0]], X)


# ---------------------------------------------------------------- subclasses


class Doubling(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made: Any = super().__torch_function__(func, types, args, kwargs or {})
        return made + made if func is torch.Tensor.mul else made


def times(holder, x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i] * holder.op)
    return out


def test_subclasses_below_attributes_and_in_lists():
    own = torch.ones(2).as_subclass(Doubling)
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    for first in (torch.ones(2), own):
        for function, *arguments in ((times, SimpleNamespace(op=own), X), (doubled, [first, own])):
            got, want = lifted(function)(*arguments), function(*arguments)
            assert [*map(type, got)] == [*map(type, want)]
            assert all(map(torch.equal, got, want))
    for function, *arguments in ((times, SimpleNamespace(op=masked), np.ones((3, 2))), (doubled, [masked, masked])):
        got, want = lifted(function)(*arguments), function(*arguments)
        assert [*map(repr, got)] == [*map(repr, want)]


# ---------------------------------------------------------------- items under keys that differ from call to call


def of_items(table, keys):
    out = []
    for key in keys:
        print(end="")
        total = 0
        for j in range(3):
            total = total + table[key] * j
        out.append(total)
        print(end="")
    return out


def of_objects(table, keys):
    out = []
    for key in keys:
        print(end="")
        total = 0
        for j in range(3):
            total = total + table[key].op * j
        out.append(total)
        print(end="")
    return out


PAIRS: list[tuple[Any, Any]] = [
    (1.0, 2.0), (1.0, 2), (1.0, True), (X, X), (X, X.double()), (X, 1), (1, X), (X, X[None]), (1, np.float32(2)),
]  # fmt: skip


@pytest.mark.parametrize("make", [list, tuple, lambda pair: dict(enumerate(pair))])
def test_items_of_several_kinds(make):
    for function, wrap in ((of_items, lambda item: item), (of_objects, lambda item: SimpleNamespace(op=item))):
        run = lifted(function)
        for pair in PAIRS:
            items = make([wrap(item) for item in pair])
            assert repr(run(items, [0, 1])) == repr(function(items, [0, 1]))
