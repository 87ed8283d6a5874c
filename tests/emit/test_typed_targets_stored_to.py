"""All values that targets take are read before the first of them is stored, which may change what they come from."""

import pytest
from strictly import same


class Cursor:
    def __init__(self):
        self.at = 0


def zipped(xs, ys):
    found = []
    for _ in range(3):
        for xs[1], y in zip(ys, xs):
            found.append(y)
    return found


def numbered(xs):
    found = []
    for _ in range(3):
        for k, (xs[-1], x) in enumerate(zip(xs, xs)):
            found.append(k * x)
    return found


def of_items(table):
    found = []
    for _ in range(3):
        for table[2], value in table.items():
            found.append(value)
    return found


def of_attributes(xs, cursor):
    found = []
    for _ in range(3):
        for cursor.at, (xs[cursor.at], x) in enumerate(zip(reversed(xs), xs)):
            found.append((cursor.at, x))
    return found


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (zipped, ([1, 2, 3, 4], [7, 8, 9])),
        (numbered, ([4, 5, 6, 7],)),
        (of_items, ({1: 4, 2: 5, 3: 6},)),
        (of_attributes, ([1, 2, 3, 4], Cursor())),
    ],
)
def test_targets(function, arguments):
    same(function, arguments)
