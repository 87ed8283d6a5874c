"""Containers whose classes have methods of their own to be read by: a loop reads them, and nothing else does."""

from collections import OrderedDict, defaultdict, deque
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch

import looplift
from looplift.runtime.contents import runs_code

READING = "__getitem__ __iter__ __len__ __bool__ __contains__ keys values items get copy".split()


def noting(base):
    """A class of containers that note which of their methods are called, and these notes."""
    seen = []

    def noted(name):
        def method(self, *arguments):
            seen.append(name)
            return base.__len__(self) > 0 if name == "__bool__" else getattr(base, name)(self, *arguments)

        return method

    names = [name for name in READING if name == "__bool__" or hasattr(base, name)]
    return type(f"Noting{base.__name__}", (base,), {name: noted(name) for name in names}), seen


def by_places(values):
    total = 0
    for i in range(len(values)):
        total = total + values[i]
    return total


def one_by_one(values):
    total = 0
    for value in values:
        total = total + value
    return total


def nested(rows):
    total = 0
    for value in rows[0]:
        total = total + value
    return total


def of_an_object(held):
    total = 0
    for i in range(3):
        total = total + held.values[i]
    return total


def appended(values):
    for i in range(3):
        values.append(i)
    return sum(list.__iter__(values)) if isinstance(values, list) else 0


def itself(values):
    return values


def in_a_list(values):
    return [values]


def in_an_object(values):
    return SimpleNamespace(values=values)


PROGRAMS = [(by_places, itself), (one_by_one, itself), (nested, in_a_list), (of_an_object, in_an_object)]
BASES = [list, tuple, dict, OrderedDict, deque, defaultdict]


@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize(("program", "hold"), [*PROGRAMS, (appended, itself)], ids=lambda one: one.__name__)
@pytest.mark.parametrize("base", BASES, ids=lambda one: one.__name__)
def test_only_the_loop_reads_them(base, program, hold, backend, verify):
    if program is appended and not hasattr(base, "append"):
        return

    def outcome(function, items):
        made, seen = noting(base)
        if issubclass(base, dict):
            values = made(int, enumerate(items)) if base is defaultdict else made(enumerate(items))
        else:
            values = made(items)
        given, found = hold(values), []
        del seen[:]
        for _ in range(3):
            found.append(float(function(given)))
        return found, seen

    lifted = looplift.lift(program, backend=backend, verify=verify)
    for items in ([1, 2, 3], [torch.tensor(1.0), torch.tensor(2.0), torch.tensor(4.0)]):
        if program is not appended or isinstance(items[0], int):
            assert outcome(lifted, items) == outcome(program, items)


class Pair(NamedTuple):
    """Fields go by the names of methods of dicts."""

    items: list[float]
    copy: float


class Settings(dict):
    """Its attributes are its items."""

    def __getattr__(self, name):
        return self[name]


class Words(list):
    """A list of another name."""


def scaled(x, settings, pair, words):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * settings["factor"] + pair.items[i] * pair.copy + words[i]
    return out


def test_those_without_such_methods_are_lifted():
    given = (torch.ones(3), Settings(factor=2.0), Pair([1.0, 2.0, 3.0], 0.5), Words([1.0, 2.0, 4.0]))
    lifted = looplift.lift(scaled)
    torch.testing.assert_close(lifted(*given), scaled(*given))
    assert "kept" not in str(lifted.report())
    assert not any(map(runs_code, given))


def test_the_reason_says_what_to_do():
    made, _ = noting(list)
    lifted = looplift.lift(by_places)
    lifted(made([1, 2]))
    (loop,) = lifted.report().loops
    assert (loop.decision, loop.code) == ("kept", "subclass")
    assert "pass a plain container" in str(lifted.report())
