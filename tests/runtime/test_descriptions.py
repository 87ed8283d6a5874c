"""Objects are described alike in every process, and otherwise as soon as they do something else."""

from __future__ import annotations

import enum
import math
import types
from typing import Any

import numpy as np
import pytest
import torch

from looplift.runtime.descriptions import Unknown, digest_of

TEXT = """
import math
from collections import namedtuple

LIMIT = 3


def inner(x, *, factor=2):
    return x * factor if x < LIMIT else math.sqrt(x)


def outer(x, y=1.0):
    return [inner(one) for one in x] + [y]


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n > 0 and even(n - 1)


class Base:
    weight = 1

    @property
    def double(self):
        return 2 * self.weight


class Derived(Base):
    @staticmethod
    def made():
        return Derived()

    def value(self):
        return outer([self.weight])


Point = namedtuple("Point", "x y")


def closed(n):
    def adds(x):
        return x + n

    return adds
"""


def described(text=TEXT, **changes):
    names: dict[str, Any] = {"__name__": "a_module"}
    exec(compile(text, "a_file.py", "exec"), names)
    names |= changes
    found = {name: names[name] for name in ("outer", "even", "Derived", "Point")} | {"closed": names["closed"](1)}
    return {name: digest_of(value) for name, value in found.items()}


def differing(one, other):
    return {name for name in one if one[name] != other[name]}


def test_what_is_made_twice_is_described_alike():
    assert described() == described()
    assert len(set(described().values())) == 5


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("x * factor if", "x / factor if", {"outer", "Derived"}),
        ("factor=2", "factor=3", {"outer", "Derived"}),
        ("y=1.0", "y=1", {"outer", "Derived"}),
        ("LIMIT = 3", "LIMIT = 4", {"outer", "Derived"}),
        ("LIMIT = 3", "LIMIT = 3.0", {"outer", "Derived"}),
        ("math.sqrt(x)", "math.cbrt(x)", {"outer", "Derived"}),
        ("n > 0 and", "n > 1 and", {"even"}),
        ("weight = 1", "weight = 2", {"Derived"}),
        ("2 * self", "3 * self", {"Derived"}),
        ("return Derived()", "return None", {"Derived"}),
        ('"x y"', '"x z"', {"Point"}),
    ],
)
def test_what_does_something_else_is_described_otherwise(before, after, expected):
    assert differing(described(), described(TEXT.replace(before, after))) == expected


def test_what_a_function_closes_over_belongs_to_it():
    names: dict[str, Any] = {"__name__": "a_module"}
    exec(compile(TEXT, "a_file.py", "exec"), names)
    assert digest_of(names["closed"](1)) == digest_of(names["closed"](1))
    assert len({digest_of(names["closed"](n)) for n in (1, 2, 1.0, True, None)}) == 5


def test_globals_are_what_they_are_now():
    assert differing(described(), described(inner=abs)) == {"outer", "Derived"}
    assert differing(described(), described(LIMIT=7)) == {"outer", "Derived"}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def test_values_of_libraries():
    alike = [torch.zeros, torch.float32, torch.device("cpu"), math.sqrt, np.add, np.dtype("int8"), torch.nn.Linear, len]
    alike += [(1, "a", 2.5), {"a": [1]}, frozenset((1, 2)), slice(1, 2), range(3), None, float("nan"), torch]
    texts = [digest_of(value) for value in alike]
    assert texts == [digest_of(value) for value in alike] and len(set(texts)) == len(alike)


@pytest.mark.parametrize(
    "value",
    [torch.zeros(2), np.zeros(2), object(), types.ModuleType("theirs"), [torch.zeros(1)], [].append, torch.Generator()],
    ids=lambda value: type(value).__name__,
)
def test_what_is_known_by_what_it_is_alone(value):
    with pytest.raises(Unknown):
        digest_of(value)


def test_what_leads_to_very_much_is_left_alone():
    held = [(number, [number]) for number in range(2000)]
    with pytest.raises(Unknown, match="too much"):
        digest_of(held)
