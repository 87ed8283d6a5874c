"""Values that are equal to those of the first call and are other ones: zeros of another sign, other types, members."""

import enum
import math
import signal

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def scaled_by(factor):
    return lambda value: value * factor


def signs(helper, xs):
    out = []
    for x in xs:
        out.append(math.copysign(1.0, helper(x)))
    return out


def rows(helper, x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = helper(x[i])
    return 1 / out


def same(got, want):
    if isinstance(want, torch.Tensor):
        assert got.dtype == want.dtype
        assert torch.equal(got, want)
    else:
        assert repr(got) == repr(want)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [signs, rows])
def test_closures_over_zeros(backend, function):
    xs = [1.0, -2.0, 4.0] if function is signs else torch.tensor([1.0, -2.0, 4.0], dtype=torch.float64)
    lifted = lift(function, backend=backend, verify="off")
    for factor in (0.0, -0.0, 0, 0.0, -0.0, False, -0.0, 2.0):
        same(lifted(scaled_by(factor), xs), function(scaled_by(factor), xs))


@pytest.mark.parametrize("backend", BACKENDS)
def test_closures_over_complex_zeros(backend):
    def found(helper, x):
        out = torch.zeros(len(x), dtype=x.dtype)
        for i in range(len(x)):
            out[i] = helper(x[i])
        return out

    x = torch.tensor([1.0 + 1j, -2.0 - 2j])
    lifted = lift(found, backend=backend, verify="off")
    for factor in (0j, complex(0.0, -0.0), complex(-0.0, 0.0), 1 + 0j, complex(1, -0.0)):
        got, want = lifted(scaled_by(factor), x), found(scaled_by(factor), x)
        assert torch.equal(torch.view_as_real(got).signbit(), torch.view_as_real(want).signbit())
        assert torch.equal(got, want)


class Held:
    factor = 0.0

    def __init__(self, x):
        self.x = x

    def scaled(self):
        return self.x * self.factor


def methods(owners):
    out = []
    for owner in owners:
        out.append(owner.scaled())
    return out


@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_that_hold_equal_constants(backend, monkeypatch):
    lifted = lift(methods, backend=backend, verify="off")
    for factor in (0.0, -0.0, 0, False, 1, True, 1.0, math.nan, math.inf, 0.0):
        monkeypatch.setattr(Held, "factor", factor)
        owners = [Held(2), Held(3)]
        same(lifted(owners), methods(owners))


class Net(torch.nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.act, self.slope = torch.nn.LeakyReLU(slope), slope
        self.weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))

    def forward(self, x):
        return self.act(self.weight * x) * self.slope


def slopes(net, x):
    out = []
    for k in range(len(x)):
        loss = net(x[k]).sum()
        (found,) = torch.autograd.grad(loss, [net.weight])
        out.append(found)
    return torch.stack(out)


@pytest.mark.parametrize("backend", BACKENDS)
def test_modules_that_hold_equal_numbers(backend):
    x = torch.tensor([[1.0, -2.0], [-3.0, 4.0]], dtype=torch.float64)
    lifted = lift(slopes, backend=backend, verify="off")
    for slope in (0.5, 0.0, -0.0, 0, 1, 1.0, True, math.inf, 0.5):
        got, want = lifted(Net(slope), x), slopes(Net(slope), x)
        torch.testing.assert_close(got, want, rtol=1e-12, atol=0, equal_nan=True)
        assert torch.equal(got.signbit(), want.signbit()) or got.isnan().any()


# ---------------------------------------------------------------- enumerations


class Mode(str, enum.Enum):
    SUM = "sum"
    MAX = "max"


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Word(str):
    pass


class Odd(str):
    def __eq__(self, other):
        return not str.__eq__(self, other)

    __hash__ = str.__hash__


def reduced(x, mode):
    total = 0.0
    for i in range(len(x)):
        if mode == Mode.SUM:
            total = total + float(x[i])
        elif mode == "max":
            total = max(total, float(x[i]))
    return total


def chosen(x, mode):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        out[i] = x[i] * 2 if mode is Mode.MAX else x[i] + (3 if mode != "max" else 4)
    return out


def returned(x, mode):
    out = []
    for i in range(len(x)):
        out.append((mode, float(x[i])))
    return out


class Owner:
    def __init__(self, mode):
        self.mode = mode


def of_owners(x, mode):
    owner = Owner(mode)
    return in_owner(x, owner)


def in_owner(x, owner):
    out = []
    for i in range(len(x)):
        out.append(float(x[i]) if owner.mode == Mode.SUM else owner.mode is Mode.MAX)
    return out


X = torch.tensor([1.0, 5.0, -2.0], dtype=torch.float64)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [reduced, chosen, returned, of_owners])
def test_members_of_enumerations_of_words(backend, function):
    lifted = lift(function, backend=backend, verify="off")
    for mode in (Mode.SUM, Mode.MAX, "sum", "max", Word("max"), Odd("max"), np.str_("sum"), Mode.SUM, None, Mode.MAX):
        same(lifted(X, mode), function(X, mode))
    for mode in (Mode.MAX, Mode.SUM):
        same(lifted(X, mode), function(X, mode))


@pytest.mark.parametrize("function", [reduced, chosen])
def test_members_do_not_keep_loops(function):
    for backend in ("auto", "torch"):
        lifted = lift(function, backend=backend, verify="off")
        for mode in (Mode.SUM, Mode.MAX):
            same(lifted(X, mode), function(X, mode))
        assert "kept" not in str(lifted.report())


@pytest.mark.parametrize("backend", BACKENDS)
def test_objects_that_hold_members(backend):
    lifted = lift(in_owner, backend=backend, verify="off")
    for mode in (Mode.SUM, Mode.MAX, "sum", Word("sum"), Odd("sum"), Mode.MAX):
        same(lifted(X, Owner(mode)), in_owner(X, Owner(mode)))


# ---------------------------------------------------------------- names of helpers

FACTOR = 2.0


def helped(value):
    return value * FACTOR


def defaulted(value, factor=Level.HIGH, mode=Mode.SUM):
    return value * factor if mode == "sum" else value


def with_helper(x):
    out = []
    for i in range(len(x)):
        out.append(helped(x[i]) + signal.SIGINT)
    return out


def with_default(x):
    out = []
    for i in range(len(x)):
        out.append(defaulted(x[i]))
    return out


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [torch.tensor, np.array, list])
def test_globals_of_helpers_that_inherit_from_numbers(backend, make, monkeypatch):
    x, lifted = make([1.0, 2.5]), lift(with_helper, backend=backend, verify="off")
    for factor in (2.0, np.float64(2), np.float32(2), 2, Level.LOW, True, -0.0, np.float64(3), Level.HIGH):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        want, got = with_helper(x), lifted(x)
        assert list(map(type, got)) == list(map(type, want))
        assert repr(got) == repr(want)
    assert "KeyError" not in str(lifted.report())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [torch.tensor, np.array, list])
def test_defaults_that_inherit_from_numbers_and_words(backend, make):
    x, lifted = make([1.0, 2.5]), lift(with_default, backend=backend, verify="off")
    for _ in range(2):
        assert repr(lifted(x)) == repr(with_default(x))
