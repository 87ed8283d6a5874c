"""Sets that typed programs make of others, and go through where nobody can tell in which order."""

import random
from collections import defaultdict

import pytest
from tests.emit.container_programs import outcome, runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def hits(found, wanted):
    hit = missed = 0
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        for one in q:
            if one in p:
                hit += 1
            else:
                missed -= one[0]
    return hit, missed


def by_label(found, wanted):
    hit, missed, rows = defaultdict(int), defaultdict(int), []
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        for one in q:
            if one in p:
                hit[one[1]] += 1
            else:
                missed[one[1]] += one[0]
    for label in sorted(set(hit) | set(missed)):
        rows.append((label, hit[label], missed[label]))
    return rows


def operators(found, wanted):
    rows, sums, others = [], [], []
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        rows.append([len(p | q), len(p & q), len(p - q), len(p ^ q), len(p.union(q)), len(set(p))])
        sums.append((sum(1 for one in q if one in p), sum({one[0] for one in q}), sorted(p - q)))
        others.append(((3, "a") in p ^ q, len({one[1] for one in p if one not in q}), sorted(p.intersection(q))))
    return rows, sums, others


def order_of_keys(found, wanted):
    counts, rows = {}, []
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        for one in "abcd":
            counts[one] = counts.get(one, 0)
        for one in q:
            if one in p:
                counts[one[1]] += 1
        rows.append(list(counts))
    return rows, counts


def order_that_shows(found, wanted):
    counts = defaultdict(int)
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        for one in q:
            if one not in p:
                counts[one] += 1
    return [*counts], {one: counts[one] for one in counts}


def sets_handed_out(found, wanted):
    rows = []
    for x, y in zip(found, wanted):
        p, q = set(x), set(y)
        rows.append(p | q)
    return rows, [[*one] for one in rows]


def the_last_one(found, wanted):
    rows = []
    for x, y in zip(found, wanted):
        one, total, p = None, 0, set(x)
        for one in p:
            total += one[0]
        rows.append((one, total))
    return rows


def the_first_one(found, wanted):
    rows = []
    for x, y in zip(found, wanted):
        q = set(y)
        for one in set(x):
            if one in q:
                rows.append(one)
                break
    return rows


def floats(found, wanted):
    rows = []
    for x, y in zip(found, wanted):
        total, p = 0.0, set(x)
        for one in p:
            total += one[0] * 0.1
        rows.append((total, sum(one[0] * 0.1 for one in p)))
    return rows


def reads_what_it_fills(found, wanted):
    rows = []
    for x, y in zip(found, wanted):
        p, both = set(x), set(y[:0])
        other = both
        for one in p:
            if (one[0] + 1, one[1]) not in other:
                both.add(one)
        rows.append(len(both))
    return rows


def grows_while_it_is_gone_through(found, wanted):
    total = 0
    for x, y in zip(found, wanted):
        p = set(x)
        same = p
        for one in p:
            same.add((one[0] + 10, one[1]))
        total += len(p)
    return total


def spans(seed, n=12):
    r = random.Random(seed)
    return [[(r.randrange(5), "abcd"[r.randrange(4)]) for _ in range(r.randrange(9))] for _ in range(n)]


@pytest.mark.parametrize("function", [hits, by_label, operators, order_of_keys])
def test_orders_that_nobody_sees(function, first):
    runs_alike(function, spans(0), spans(1))
    runs_alike(function, [[(1, "a")]] * 2, [[(1, "a")], []])


@pytest.mark.parametrize(
    "function",
    [order_that_shows, the_last_one, the_first_one, grows_while_it_is_gone_through],
)
def test_orders_that_show(function, first):
    runs_alike(function, spans(0), spans(1), native=False)


@pytest.mark.parametrize("function", [sets_handed_out, floats, reads_what_it_fills])
def test_orders_that_show_outside_of_the_loop(function, first):
    """A loop within may go through a set that Python has made, in its order."""
    runs_alike(function, spans(0), spans(1), native=None)


def equal_and_not_alike(rows):
    found = []
    for row in rows:
        one, other = set(row), {True, 0.0, 3}
        found.append(sorted(one | other))
    return found


def test_items_that_are_equal_and_not_alike(first):
    runs_alike(equal_and_not_alike, [[1, 2, 3.0], [1.0, -0.0]], native=False)


def sums_beyond(rows):
    found = []
    for row in rows:
        total, some = 0, set(row)
        for one in some:
            total += one
        found.append(total)
    return found


def test_sums_that_need_more_bits(first):
    runs_alike(sums_beyond, [[2**62, 2**62 + 1, -(2**62)], [1, 2]], native=None)
    runs_alike(sums_beyond, [[2**62, 2**62 + 1, 5], [1, 2]], native=False)


SEEN = []


def len(value):
    SEEN.append(value)
    return 1


def calls_its_own(rows):
    total = 0
    for row in rows:
        for one in set(row):
            total += abs(one)
        total += sum(len(one) for one in set(row)) + sum(1 for one in set(row) if abs(one) > 1)
    return total


def test_functions_that_are_called_as_those_of_python(first):
    SEEN.clear()
    runs_alike(calls_its_own, [["ab", "b", "c"]], native=None)
    runs_alike(calls_its_own, [[3, -1, 3], [1 << 40]], native=None)
    order = [*SEEN]
    SEEN.clear()
    for _ in range(12):
        outcome(calls_its_own, ([[3, -1, 3], [1 << 40]],))
    assert order[-36:] == SEEN
