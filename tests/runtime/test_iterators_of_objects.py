"""Iterators that objects and lists hold are used up by the loop alone."""

from types import SimpleNamespace

import pytest
import torch

from looplift import lift


def zipped(held, values):
    total = 0
    for a, b in zip(held.items, values):
        total = total + a * b
    return total


def counted(held, values):
    out = torch.zeros(3)
    for i, item in enumerate(held.items):
        out[i] = values[i] * item
    return out


def taken(held, values):
    total = 0
    for value in values:
        total = total + next(held.items) * value
    return total


def in_a_list(held, values):
    total = 0
    for a, b in zip(held.both[0], values):
        total = total + a * b
    return total


@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("program", [zipped, counted, taken, in_a_list])
def test_they_are_used_up_once(program, backend, verify):
    def outcome(function):
        found = []
        for given in ([1.0, 2.0, 3.0, 4.0], torch.arange(4.0), [1.0, 2.0], [1.0, 2.0, 3.0]):
            items = iter(given)
            held = SimpleNamespace(items=items, both=[items])
            try:
                result = str(function(held, [5.0, 6.0, 7.0]))
            except (IndexError, StopIteration) as error:
                result = type(error).__name__
            found.append((result, str(list(items))))
        return found

    assert outcome(lift(program, backend=backend, verify=verify)) == outcome(program)
