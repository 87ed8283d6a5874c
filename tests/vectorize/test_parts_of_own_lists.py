"""Parts of a list that a loop makes are lists again, whatever is done with them."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import written as defined

from looplift import lift

PARTS = ("1:", ":2", "1:-1", "::2", "-2:", ":n", "n:n + 1", ":0", "5:", ":")
USES = {
    "given back": "return values",
    "beside its length": "return values, len(values)",
    "beside the whole": "return values, every",
    "joined": "return values + values",
    "in a list": "return [values]",
    "a part again": "return values[1:]",
    "its last item": "return values[-1]",
    "summed": "return sum(values)",
    "tested": "return bool(values)",
    "gone through": "t = 0\n    for k, v in enumerate(values): t = t + v * k\n    return t",
    "made longer": "values.append(3.0)\n    return values",
}


def written(part, use):
    text = "def program(rows, n):\n    values = []\n    for row in rows: values.append(row * 2.0)\n"
    text += "    every = values\n" if "every" in use else ""
    text += f"    values = values[{part}]\n    {use}\n"
    return defined(text, f"<part {part} {use}>", {})["program"]


def outcome(program, rows, n):
    try:
        return repr(program(rows, n))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("rows", [[1.0, 2.5, 3.0, -1.0], torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])])
def test_parts_are_lists(rows, use):
    for part in PARTS:
        program = written(part, use)
        lifted = lift(program, backend="torch", verify="off")
        for n in (2, 1, 0):
            assert outcome(lifted, rows, n) == outcome(program, rows, n), part


def test_a_part_is_lifted():
    lifted = lift(written("1:", "return values"), backend="torch", verify="off")
    assert lifted([1.0, 2.5], 1) == [5.0]
    assert "tolist" in lifted.source


def in_dicts(rows, n):
    found = []
    for j in range(n):
        values = []
        for row in rows[j:]:
            values.append(row + n)
        values = values[::-1]
        found.append({"a": values})
    return found


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_parts_in_dicts(backend):
    rows = torch.tensor([1.0, 2.5, 3.0]).numpy()
    assert repr(lift(in_dicts, backend=backend, verify="off")(rows, 3)) == repr(in_dicts(rows, 3))


def last_of_turned(rows, n):
    values = []
    for row in rows:
        values.append(row)
    values = values[::-1]
    return values.pop()


def part_of_views(rows, n):
    values = []
    for row in rows:
        values.append(row)
    return values[n:]


def item_of_part(rows, n):
    values = []
    for row in rows:
        values.append(row)
    part = values[1:]
    return part[n]


def part_in_a_list(rows, n):
    values = []
    for row in rows:
        values.append(row)
    return [values[1:], n]


@pytest.mark.parametrize("program", [last_of_turned, part_of_views, item_of_part, part_in_a_list])
def test_parts_hold_the_same_objects(program):
    rows = torch.arange(8.0).reshape(4, 2)
    found = lift(program, backend="torch", verify="off")(rows, 1)
    while isinstance(found, list):
        found = found[0]
    found[0] = -1.0
    assert (rows == -1.0).any()


def both(rows, n):
    values = []
    for row in rows:
        values.append(row * 2)
    return values, values[1:]


def test_parts_beside_the_whole_share_their_items():
    whole, part = lift(both, backend="torch", verify="off")(torch.ones(3, 2), 0)
    assert all(one is other for one, other in zip(whole[1:], part, strict=True))
