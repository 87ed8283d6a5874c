"""Stars in displays and targets, and fields that functions make, in typed programs."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def shown(boxes):
    rows = []
    for b in boxes:
        rows.append([len(b), *b, sum(b) / len(b)])
    return rows


def several(rows, names):
    found = {}
    for k, row in enumerate(rows):
        key = (k, *names[k])
        found[key] = [*row, *(v * v for v in row if v > 2), *range(k), *{"a": 1, "b": 2}.values(), *names[k]]
        found[(*key, -1)] = [*"ab", *reversed(names[k])]
    return found


def grown_meanwhile(rows):
    """What is behind a star is gone through before what follows it is evaluated."""
    found = []
    for row in rows:
        found.append([*row, row.pop(), *row, len(row)])
    return found


def of_any_length(rows):
    seen, found = {}, []
    for row in rows:
        key = (len(row), *row)
        seen[key] = seen.get(key, 0) + 1
        found.append((*row, 0))
    return seen, found


def in_sets(rows):
    total = []
    for row in rows:
        some = {*row, 0, *row[1:]}
        total.append((len(some), 3 in some, sorted(some)))
    return total


def clicks_and_target(rows):
    total, lengths = 0, []
    for *clicks, target in rows:
        for one in clicks:
            total += one * target
        lengths.append(len(clicks))
        clicks.append(total)
    return total, lengths, [last for _, *_, last in rows]


def heads(rows):
    found = []
    for row in rows:
        head, *middle, last = row
        middle.append(head)
        found.append((head, middle, last))
    first, *others = found
    return first, others


def of_tuples(pairs):
    found = []
    for name, *numbers in pairs:
        numbers.append(len(name))
        found.append((name, numbers))
    return found


def of_text(words):
    found = []
    for word in words:
        first, *rest = word
        found.append(first + "".join(rest[::-1]))
    return found


def of_arrays(table):
    found = []
    for head, *rest in table:
        found.append(head + len(rest))
    return found


ROWS = [[1, 2, 3], [4, 5], [7, 6, 5, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (shown, [[[1.0, 2.5], [3.0], [0.5, 0.25, 0.125]]]),
        (shown, [[(1.0, 2.5), (3.0, 1.0)]]),
        (grown_meanwhile, [ROWS]),
        (of_any_length, [ROWS]),
        (in_sets, [ROWS]),
        (clicks_and_target, [ROWS]),
        (clicks_and_target, [[(1, 2, 3), (4, 5, 6)]]),
        (heads, [ROWS]),
        (of_tuples, [[("a", 1, 2), ("bcd", 3, 4)]]),
        (of_text, [["hello", "ab", "x"]]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_stars(function, given, first):
    runs_alike(function, *given)


def test_several_stars(first):
    runs_alike(several, [[1, 2, 3], [4]], [(5, 6), (7, 8)], native=None)


def test_too_few_items(first):
    runs_alike(clicks_and_target, [[1, 2], []], native=None)
    runs_alike(heads, [[1, 2], [3]], native=False)
    runs_alike(of_text, ["ab", ""], native=False)


def test_stars_in_rows_of_arrays(first):
    runs_alike(of_arrays, np.arange(12).reshape(4, 3), native=None)


def _box():
    return [99, -1]


@dataclass
class Blob:
    label: int
    area: int = 0
    box: list = field(default_factory=lambda: [99, -1])
    other: list = field(default_factory=_box)

    def add(self, x):
        self.area += 1
        self.box[0] = min(self.box[0], x)
        self.box[1] = max(self.box[1], x)
        self.other[0] += x


def blobs(labels):
    found = {}
    for x, label in enumerate(labels):
        if label not in found:
            found[label] = Blob(label)
        found[label].add(x)
    return [[b.label, b.area, *b.box, *b.other] for b in found.values()], found


def test_fields_that_functions_make(first):
    runs_alike(blobs, [3, 1, 3, 2, 2, 1, 3])
