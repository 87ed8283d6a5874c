"""What was made of regions over objects is taken in another process: the conditions on their classes, too."""

import sys

import pytest
import torch
from tests.pipeline.test_remembered import Counted, module_of, remembering  # noqa: F401

import looplift

FUNCTIONS = """
import enum
from typing import NamedTuple

import torch


class Base:
    shift = 1.5


class Owner(Base):
    def __init__(self, scale):
        self.scale = scale


class Slotted:
    __slots__ = ("scale", "shift")

    def __init__(self, scale):
        self.scale, self.shift = scale, 0.5


class Item(NamedTuple):
    scale: float
    shift: float


class Asked(Base):
    def __init__(self, scale):
        self.scale = scale

    def __getattr__(self, name):
        raise AttributeError(name)


class Mode(str, enum.Enum):
    SUM = "sum"
    MAX = "max"


class Net(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale, self.shift = torch.nn.Parameter(torch.tensor(scale)), 0.5


def of_one(owner, x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] * owner.scale + owner.shift
    return out


def of_many(owners, x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] * owners[i].scale + owners[i].shift
    return out


def of_mode(mode, x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] * 2 if mode is Mode.SUM else -x[i]
    return out
"""


def own(functions, name):
    made = getattr(functions, name)
    return made.SUM if name == "Mode" else made(2.0)


@pytest.mark.parametrize("name", ["Owner", "Slotted", "Asked", "Mode", "Net"])
def test_objects(tmp_path, monkeypatch, remembering, name):  # noqa: F811
    counted, functions = Counted(monkeypatch), module_of(tmp_path / "functions.py", FUNCTIONS)
    function = functions.of_mode if name == "Mode" else functions.of_one
    x = torch.linspace(-1, 1, 12)
    for planned in (True, False):
        assert (counted.in_call(function, own(functions, name), x) > 0) == planned


@pytest.mark.parametrize("name", ["Owner", "Slotted", "Item", "Asked"])
def test_lists_of_objects(tmp_path, monkeypatch, remembering, name):  # noqa: F811
    counted, functions = Counted(monkeypatch), module_of(tmp_path / "functions.py", FUNCTIONS)
    x, kind = torch.linspace(-1, 1, 12), getattr(functions, name)
    owners = [kind(0.5 * k, 1.0) if name == "Item" else kind(0.5 * k) for k in range(12)]
    for planned in (True, False):
        assert (counted.in_call(functions.of_many, owners, x) > 0) == planned


def test_conditions_hold_there_too(tmp_path, monkeypatch, remembering):  # noqa: F811
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    x = torch.linspace(-1, 1, 12)
    for _ in range(2):
        lifted = looplift.lift(functions.of_one)
        torch.testing.assert_close(lifted(functions.Owner(2.0), x), x * 2 + 1.5)
    monkeypatch.setattr(functions.Base, "shift", property(lambda self: 3.0))
    torch.testing.assert_close(lifted(functions.Owner(2.0), x), x * 2 + 3.0)
    assert "functions_of_a_user" in sys.modules
