"""Lists that a loop reads may grow where no call is written: in operators, properties, tests, keys and factories."""

import collections

import pytest
from strictly import same


class Log:
    """Each of its methods makes the list longer that it shares with the caller."""

    def __init__(self, entries, x):
        self.entries, self.x = entries, x

    def __add__(self, other):
        self.entries.append(self.x * 10 + len(self.entries))
        return self.x + other.x

    def __rmul__(self, factor):
        note(self.entries, factor)
        return factor + self.x

    def __getitem__(self, place):
        self.entries.append(place + 100)
        return self.x

    def __contains__(self, item):
        self.entries += [item]
        return len(self.entries) % 3 == 0

    def __len__(self):
        self.entries.append(60)
        return len(self.entries) % 2

    def __neg__(self):
        self.entries.insert(0, 3)
        return self.entries[-1]

    def __abs__(self):
        self.entries[len(self.entries) :] = [4, 5]
        return self.x

    @property
    def last(self):
        self.entries.append(7 + len(self.entries))
        return self.x


class Quiet:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]

    def __add__(self, other):
        return Quiet([a + b for a, b in zip(self.items, other.items)])

    @property
    def total(self):
        found = 0
        for one in self.items:
            found += one
        return found


def note(entries, x):
    entries.append(x)


def growing(entries):
    entries.append(len(entries))
    return 2


def adding(log, other, entries):
    total = 0
    for k in range(20):
        total += log + other
        total = total * 3 % 1000003 + entries[-1] + k
    return total


def multiplied(log, other, entries):
    total = 0
    for k in range(20):
        total += k * other
        total = total * 3 % 1000003 + entries[-1]
    return total


def taking(log, other, entries):
    total = 0
    for k in range(20):
        total = (total + log[k]) * 3 % 1000003 + entries[-1]
    return total


def asked(log, other, entries):
    total = 0
    for k in range(20):
        total += 1 if k in log else 2
        if other:
            total += 5
        total = total * 3 % 1000003 + entries[-1]
    return total


def negated(log, other, entries):
    total = 0
    for _ in range(20):
        total = (total - -log + abs(other)) * 3 % 1000003 + entries[-1]
    return total


def properties(log, other, entries):
    total = k = 0
    while k < 20:
        k += 1
        total = (total + other.last) * 3 % 1000003 + entries[-1]
    return total


def by_keys(rows, other, entries):
    total = 0

    def key(x):
        entries.append(x)
        return -x

    for k in range(20):
        total += max([k, 3, 7], key=key)
        total = total * 3 % 1000003 + entries[-1]
    return total


def by_factories(rows, other, entries):
    found, total = collections.defaultdict(lambda: growing(entries) + 1), 0
    for k in range(20):
        total = (total + found[k]) * 3 % 1000003 + entries[-1]
    return total


def quiet(one, other, entries):
    total = 0
    for k in range(len(one)):
        both = one + other
        total = total * 3 % 1000003 + both[k] + one[k] + both.total + entries[k]
    return total


@pytest.mark.parametrize(
    "function", [adding, multiplied, taking, asked, negated, properties, by_keys, by_factories],
)  # fmt: skip
def test_lists_may_grow_where_no_call_is_written(function):
    entries = [1, 2]
    same(function, (Log(entries, 2), Log(entries, 3), entries), (Log(entries, -1), Log(entries, 0), entries))


def test_methods_that_change_nothing_are_taken_as_such():
    same(quiet, (Quiet([1, 2, 3]), Quiet([4, 5, 6]), [7, 8, 9]), decisions={"native"})
