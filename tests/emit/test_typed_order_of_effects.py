"""What programs evaluate is evaluated once, and in Python's order."""

import collections
import heapq

import pytest

import looplift


class Store:
    def __init__(self, xs):
        self.xs, self.n = list(xs) * 5, 0

    def more(self):
        self.n += 1
        self.xs.append(self.n)
        return self.xs[-3:]

    def key(self):
        self.n += 1
        return self.n % 7

    def renew(self):
        self.n += 1
        self.xs = [self.n, 2, 3]
        return self.n


def ordered(xs):
    store, out = Store(xs), []
    for _ in xs:
        a, b = sorted([store.xs.pop(), store.xs.pop()])
        out.append(b - a)
        for v in sorted(store.more()):
            out.append(v)
    return out, store.xs, store.n


def as_set(xs):
    store, n = Store(xs), 0
    for _ in xs:
        n += len(set([store.xs.pop(), store.xs.pop()]))
    return n, store.xs


def updated(xs):
    store, seen, sizes = Store(xs), set(), []
    for _ in xs:
        seen.update([store.xs.pop(), store.key()])
        sizes.append(len(seen))
    return sizes, store.xs, store.n


def counted(xs):
    store, n, every = Store(xs), 0, collections.Counter()
    for _ in xs:
        n += collections.Counter([store.xs.pop(), store.xs.pop()])[3]
        every.update([store.key()])
    return n, store.xs, every[3], store.n


def least_ones(xs):
    store, out = Store(xs), []
    for _ in xs:
        out += heapq.nsmallest(2, [store.xs.pop(), store.key(), 4])
    return out, store.n


def summed(xs):
    store, out = Store(xs), []
    for _ in xs:
        out.append(sum([store.xs.pop(), 2], store.xs.pop() * 100) + sum(store.more(), store.key()))
        out.append(sum(store.xs, len(store.xs)) + sum((x for x in xs), store.key()))
    return out, store.xs


def extremes(xs):
    store, out = Store(xs), []
    for _ in xs:
        out.append(min([store.xs.pop(), 1000], default=store.xs.pop()) + min(store.more(), default=store.key()))
        out.append(max(store.xs, default=-1))
    return out, store.xs


def set_meanwhile(xs):
    store, out = Store(xs), []
    for _ in xs:
        store.xs += [store.renew()]
        out.append(len(store.xs))
    return out, store.xs


def of_both(rows):
    out = []
    for row in rows:
        a, b = row
        p, q = u, v = [abs(t) for t in (a, b)]
        out.append(p + q + u + v)
    return out


@pytest.mark.parametrize("function", [ordered, as_set, updated, counted, least_ones, summed, extremes, set_meanwhile])
def test_once_and_in_order(function):
    xs = [(7 * k) % 13 for k in range(40)]
    lifted = looplift.lift(function, verify="off")
    assert lifted(list(xs)) == lifted(list(xs)) == function(list(xs))


def test_a_list_is_taken_apart_twice():
    rows = [(float(k), -2.0 * k) for k in range(30)]
    assert looplift.lift(of_both, verify="off")(rows) == of_both(rows)


def by_map(rows):
    out = []
    for row in rows:
        p, q = u, v = map(lambda t: t * 2, (row[0], row[1]))
        out.append(p + q + u + v)
    return out


def by_generator(rows):
    out = []
    for a, b in rows:
        p, q = u, v = (abs(t) for t in (a, b))
        out.append(p + q + u + v)
    return out


def by_columns(rows):
    total = 0
    for k in range(len(rows)):
        a, b = c, d = zip(*rows[: k + 1])
        total += a[0] + b[0] + c[-1] + d[-1]
    return total


@pytest.mark.parametrize("function", [by_map, by_generator, by_columns])
def test_an_iterator_is_used_up_by_its_first_target(function):
    rows = [(float(k), -2.0 * k) for k in range(30)]
    with pytest.raises(ValueError, match="not enough values") as theirs:
        function(rows)
    with pytest.raises(ValueError, match="not enough values") as mine:
        looplift.lift(function, verify="off")(rows)
    assert str(mine.value) == str(theirs.value)


def names_that_change(n):
    y, out = 0, []

    def step(v):
        nonlocal y
        y += 10
        return v

    for _ in range(n):
        a, b = map(step, (y, y))
        out.append((a, b))
    return out


def test_names_are_read_before_the_first_call():
    assert looplift.lift(names_that_change, verify="off")(20) == names_that_change(20)
