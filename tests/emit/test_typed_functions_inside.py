"""Functions that are defined in loops, in branches and in other functions, also with a cache, in programs."""

import functools
from functools import cache, lru_cache

import pytest

import looplift


def in_loop(rows):
    out = []
    for d in rows:

        @lru_cache(maxsize=None)
        def total(i):
            return 0 if i < 0 else d[i] + total(i - 1)

        out.append(total(len(d) - 1))
    return out


def as_its_variable_changes(rows):
    out = []
    for d in rows:

        @cache
        def total(i):
            return 0 if i < 0 else d[i] + total(i - 1)

        a = total(len(d) - 1)
        d = [x * 2 for x in d]
        out.append(a + total(len(d) - 1))
    return out


def before_the_loop(rows):
    d, out = rows[0], []

    @functools.lru_cache(maxsize=None)
    def total(i):
        return 0 if i < 0 else d[i] + total(i - 1)

    for row in rows:
        d = row
        out.append(total(len(d) - 1))
    return out


def in_inner_loop(rows):
    @cache
    def outer(i):
        return i * 2

    out = []
    for d in rows:
        for k in range(2):

            @cache
            def g(i):
                return d[i] * (k + 1) + outer(i)

            out.append([g(i) for i in range(len(d))])
    return out


def in_while(rows):
    out, k = [], 0
    while k < len(rows):
        d = rows[k]

        @lru_cache(None)
        def best(i, c):
            if i == len(d):
                return 0
            found = best(i + 1, c)
            if d[i] <= c:
                found = max(found, d[i] + best(i + 1, c - d[i]))
            return found

        out.append(best(0, 7))
        k += 1
    return out


def of_few(rows):
    out, calls = [], 0
    for d in rows:

        @lru_cache(maxsize=2)
        def total(i):
            nonlocal calls
            calls += 1
            return 0 if i < 0 else d[i] + total(i - 1)

        out.append(total(len(d) - 1))
        out.append(total(0))
    return out, calls


def of_enough(rows):
    out, calls = [], 0
    for d in rows:

        @lru_cache(maxsize=9)
        def total(i):
            nonlocal calls
            calls += 1
            return 0 if i < 0 else d[i] + total(i - 1)

        out.append(total(len(d) - 1))
        out.append(total(0))
    return out, calls


def in_branch(rows):
    out = []
    for d in rows:
        if len(d) > 1:

            @cache
            def g(i):
                return d[i] if i == 0 else d[i] + g(i - 1)

        out.append(g(min(len(d), 2) - 1))
    return out


def in_function(rows):
    def make(d):
        @cache
        def g(i):
            return d[i] if i == 0 else d[i] + g(i - 1)

        return g(len(d) - 1)

    out = []
    for d in rows:
        out.append(make(d))
    return out


def solve(d, scale=1):
    calls = 0

    @lru_cache(None)
    def total(i):
        nonlocal calls
        calls += 1
        return 0 if i < 0 else d[i] * scale + total(i - 1)

    found = 0
    for k in range(len(d)):
        found += total(k)
    return found, calls


def in_helper(rows):
    d, calls = rows[-1], 5
    out = []
    for row in rows:
        out.append(solve(row))
        out.append(solve(d, calls))
    return out, d


def sizes(items):
    def larger(a, b):
        return len(a) > len(b)

    best = items[0]
    for one in items:
        if larger(one, best):
            best = one
    return best


def of_several_kinds(rows):
    words = ["a", "bcd", "ef"]
    out = []
    for row in rows:
        out.append((len(sizes([row, row + row])), sizes(words[: len(row)])))
    return out


def lately_bound(d):
    if d[0] > 3:
        last = d[-1]

    def found():
        return last

    return found() if len(d) < 4 else found() + last


def bound_in_some_calls(rows):
    out = []
    for d in rows:
        if d[0] > 3:
            out.append(lately_bound(d))
    return out


def bound_in_one_call(rows):
    out = []
    for d in rows:
        out.append(lately_bound(d))
    return out


def three_deep(rows):
    count, out = 0, []

    def outer(d):
        total = 0

        def middle(k):
            nonlocal total

            def inner(x):
                nonlocal count
                count += 1
                return x * k + d[0]

            total += inner(d[k])
            return inner(total)

        for k in range(len(d)):
            out.append(middle(k))
        return total

    for d in rows:
        out.append(outer(d))
    return out, count


class Table:
    def __init__(self, cells):
        self.cells = cells

    def best(self, limit):
        cells = self.cells

        @cache
        def upto(k):
            return 0 if k < 0 else max(upto(k - 1), min(cells[k], limit))

        return upto(len(cells) - 1)

    def positions(self):
        step = 1

        def places(n):
            k = 0
            while k < n:
                yield k
                k += step

        out = []
        for k in places(len(self.cells)):
            out.append(self.cells[k])
            step += 1
        return out


def in_methods(rows):
    return [(Table(d).best(k), Table(d).positions()) for k, d in enumerate(rows)]


def named_lambdas(rows):
    def shifted(d):
        base = d[0]
        shift = lambda x: x - base
        base = shift(base) + 1
        return [shift(x) for x in d]

    out = []
    for d in rows:
        out.append(shifted(d))
    return out


def never_called(rows):
    out = []
    for d in rows:

        @cache
        def unused(i):
            return d[i]

        out.append(sum(d) if d else unused(0))
        out.extend(sizes([d, d]))
    return out


def never_reached(rows):
    out = []
    for d in rows:

        @cache
        def unused(i):
            return d[i]

        out.append(len(sizes([d])))
    return out


NATIVE = [
    never_called, never_reached,
    in_loop, as_its_variable_changes, before_the_loop, in_inner_loop, in_while, of_enough, in_function, in_helper,
    of_several_kinds, bound_in_some_calls, three_deep, in_methods, named_lambdas,
]  # fmt: skip
ROWS = [[5, 7, 1, 4], [10, 20, 30], [2], [6, 5]]


@pytest.mark.parametrize("function", [*NATIVE, of_few, in_branch], ids=lambda one: one.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_functions_inside(function, backend):
    lifted = looplift.lift(function, verify="off", backend=backend)
    for rows in ([[1, 2, 3]], ROWS, [row[::-1] for row in ROWS[:1] + ROWS]):
        assert repr(lifted(rows)) == repr(lifted(rows)) == repr(function(rows))
    if backend != "torch" and function in NATIVE:
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_a_variable_of_an_earlier_call_is_not_bound():
    rows = [[5, 1], [2, 1]]
    lifted = looplift.lift(bound_in_one_call, verify="off")
    assert lifted(rows[:1]) == bound_in_one_call(rows[:1]) == [1]
    with pytest.raises(NameError) as theirs:
        bound_in_one_call(rows)
    with pytest.raises(NameError) as mine:
        lifted(rows)
    assert str(mine.value) == str(theirs.value)


def halves(d):
    if len(d) < 2:
        return d[0]

    @cache
    def part(k):
        return halves(d[:k]) - halves(d[k:])

    return part(len(d) // 2) + part(len(d) // 2)


def recursive(rows):
    out = []
    for d in rows:
        out.append(halves(d))
    return out


def test_functions_inside_of_what_calls_itself_are_one_for_each_call():
    lifted = looplift.lift(recursive, verify="off")
    assert lifted(ROWS) == lifted(ROWS) == recursive(ROWS)


def of_equal_keys(rows):
    out = []
    for d in rows:

        @cache
        def half(v):
            return v / 2 if isinstance(v, int) else v * 3

        @cache
        def text(v):
            return str(v)

        for v in d:
            out.append((half(v), text(v)))
    return out


@pytest.mark.parametrize("row", [[0.0, -0.0, 1.0], [1, 2, 1], [1, 1.0, True, 2.0, 2], [float("nan"), float("nan")]])
def test_keys_that_are_equal(row):
    lifted = looplift.lift(of_equal_keys, verify="off")
    assert repr(lifted([row, row])) == repr(lifted([row, row])) == repr(of_equal_keys([row, row]))


@lru_cache(maxsize=None)
def stirling(n, k):
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * stirling(n - 1, k) % 1000003 + stirling(n - 1, k - 1)


def of_all_calls(rows):
    out = []
    for d in rows:
        for k in d:
            out.append(stirling(k, 2))
    return out


def test_a_cache_of_all_calls_is_filled_by_the_loop():
    found = []
    for call in (of_all_calls, looplift.lift(of_all_calls, verify="off")):
        stirling.cache_clear()
        found.append((call(ROWS), stirling.cache_info()))
    assert found[0] == found[1]


def test_the_report_says_what_to_do_about_a_cache_of_all_calls():
    lifted = looplift.lift(of_all_calls, verify="off")
    lifted(ROWS)
    assert "with its definition inside of the function that has the loop" in " ".join(str(lifted.report()).split())
