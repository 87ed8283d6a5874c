"""What runs as written for small arguments is chosen without a look at all items of their lists."""

from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest
import torch

from looplift.runtime import contents, entry, guards
from looplift.runtime.dispatch import Variant

CHEAP = ["type(P) is list", "P", "type(P[0]) is tuple"]
COSTLY = ["len((t1 := [row[0] for row in P])) > 1", "t1[0] is not None", "(set(map(type, P)) == {tuple})"]


def with_small(conditions):
    variant = Variant(conditions, (), 0)
    variant.small = Variant([*conditions, "len(P) <= 9"], (), -1, plain=True)
    return variant


def test_conditions_that_cost_little_and_the_size():
    text = entry._fits("modes", with_small([CHEAP[0], *COSTLY, *CHEAP[1:]]), {})
    rest = " and ".join(COSTLY)
    assert text == f"modes and {' and '.join(CHEAP)} and (len(P) <= 9 or {rest})"


def test_the_choice():
    variant = with_small([*CHEAP, *COSTLY])
    fits = lambda P: bool(eval(entry._fits("True", variant, {}), {"P": P}))
    assert fits([(1, 2), [3, 4]])  # few: it runs as written whatever the items are
    assert fits([(1, 2)] * 20)
    assert not fits([(1, 2)] * 19 + [[3, 4]])
    assert not fits([[1, 2]])


def test_without_one_for_small_arguments_all_conditions_stand_in_their_order():
    variant = Variant([CHEAP[0], *COSTLY, *CHEAP[1:]], (), 0)
    assert entry._fits("modes", variant, {}) == " and ".join(["modes", *variant.conditions])


def test_a_column_is_not_made_to_look_at_its_first_number():
    writer, rows = guards.Writer(), [(1.5, 2), (2.5, 3)]
    found = guards.path_conditions(writer, ["[row[0] for row in P]"], lambda path: eval(path, {"P": rows}))
    assert found[0] == "P" and not any(guards.is_costly(one, writer.constants) for one in found)
    holds = lambda P: all(eval(one, {**writer.constants, "P": P}) for one in found)
    assert holds(rows) and not holds([]) and not holds([(1, 2)])


def test_what_looks_through_containers_is_not_asked_of_small_arguments():
    writer = guards.Writer()
    looks = f"{writer.constant(contents.holds_only)}((), P)"
    text = entry._fits("modes", with_small([*CHEAP, f"({looks})"]), writer.constants)
    assert text == f"modes and {' and '.join(CHEAP)} and (len(P) <= 9 or ({looks}))"


class Other(dict):
    """A dict of the user's."""


RING = [1]
RING.append(RING)
SHARED = defaultdict(int, {"a": 1})


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ([{"a": 1, "b": [2.5, "x", None]}, {}], True),
        ({("a", 1): [{1, 2}], 2: deque([OrderedDict(a=1)])}, True),
        ({("a", object()): 1}, False),
        ([[[[object()]]]], False),
        ([Other(a=1)], False),
        (RING, True),
        (SHARED, True),
        ([SHARED], False),
        ([defaultdict(None, {"a": 1})], True),
        (defaultdict(lambda: 1), False),
        ([np.ones(2)], False),
        ([1, 2.5, "text", None, True], True),
        ({"a": range(3), "b": slice(2)}, True),
    ],
)
def test_what_containers_hold(value, holds):
    assert contents.holds_only((), value) is holds


def test_containers_of_arrays():
    rows = [{"a": np.ones(2), "b": torch.ones(2)}, (torch.nn.Parameter(torch.ones(1)),)]
    assert contents.holds_only(contents.ARRAYS, rows, 1, SHARED)
    assert not contents.holds_only((np.ndarray,), rows)
    assert not contents.holds_only(contents.ARRAYS, rows, [SHARED, object()])
