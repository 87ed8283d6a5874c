"""What runs with a definition in a loop runs: decorators, defaults, annotations, and what a cache keeps apart."""

import copy
from functools import cache, lru_cache

import pytest

from looplift import lift

SIZE = None


def twice(function):
    return lambda i: function(i) * 2


def failing(function):
    raise ValueError("no function for this")


def decorated(rows):
    out = []
    for row in rows:

        @twice
        def item(i):
            return row[i] + 1

        for k in range(len(row)):
            out.append(item(k))
    return out


def decorated_beside_a_cache(rows):
    out = []
    for row in rows:

        @twice
        @cache
        def item(i):
            return row[i] + 1

        for k in range(len(row)):
            out.append(item(k))
    return out


def decorated_by_what_raises(rows):
    out = []
    for row in rows:

        @failing
        def item(i):
            return row[i] + 1

        out.append(item(0))
    return out


def kept_by_a_name(rows):
    out = []
    for row in rows:

        @lru_cache(maxsize=SIZE)
        def item(i):
            out.append(i)
            return i

        for k in row:
            item(k)
            item(k)
    return out


def kept_by_kind(rows):
    out = []
    for row in rows:

        @lru_cache(maxsize=None, typed=True)
        def item(i):
            out.append(-i)
            return i

        for k in row:
            out += [item(k), item(k)]
    return out


def kept_integers_and_floats(rows):
    out = []
    for row in rows:

        @cache
        def item(i):
            return i

        for k in row:
            out += [item(k), item(k * 1.0), item(k == 1)]
    return out


def kept_by_how_it_is_called(rows):
    out = []
    for row in rows:

        @cache
        def item(i, scale=1):
            out.append(-i)
            return i * scale

        for k in row:
            out += [item(k), item(k, scale=1), item(k, 1)]
    return out


def default_that_takes(rows):
    out = []
    for row in rows:

        def item(n, s=row.pop()):
            return n + s

        for k in row:
            out.append(item(k, 2))
    return out


def default_that_raises(rows):
    out = []
    for row in rows:
        item = lambda a, s=10 // (len(row) - 2): a + 1
        for k in row:
            out.append(item(k))
    return out


def annotated_by_nothing(rows):
    out = []
    for row in rows:

        def item(n: not_there, s=1):  # noqa: F821
            return n + s

        out.append(item(row[0]))
    return out


def annotated_by_what_changes(rows):
    out = []
    for row in rows:

        def item(n: row.append(3)) -> row.append(4):
            return n + len(row)

        out.append(item(3))
    return out


def annotated_by_types(rows):
    out = []
    for row in rows:

        def item(n: int, s: "a text" = 1) -> list[int]:  # noqa: F722
            return n + s + row[0]

        out.append(item(3))
    return out


RUN = [
    decorated, decorated_beside_a_cache, decorated_by_what_raises, kept_by_a_name, kept_by_kind,
    kept_integers_and_floats, kept_by_how_it_is_called, default_that_takes, default_that_raises, annotated_by_nothing,
    annotated_by_what_changes, annotated_by_types,
]  # fmt: skip


def outcome(function, rows):
    given = copy.deepcopy(rows)
    try:
        found = function(given)
    except Exception as error:
        return type(error), str(error), given
    return found, [type(one) for one in found], given


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("function", RUN, ids=lambda function: function.__name__)
def test_what_runs_with_a_definition(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for rows in ([[3, 1, 2], [4, 4]], [[1, 5, 1]], [[2, 2], [1]]):
        assert outcome(lifted, rows) == outcome(function, rows)


def test_annotations_by_types_do_not_keep_a_loop():
    lifted = lift(annotated_by_types, verify="off")
    lifted([[3, 1, 2], [4, 4]])
    assert lifted.report().loops[0].decision != "kept"
