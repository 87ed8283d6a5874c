"""``try`` around the item of a dict, in programs."""

import collections

import pytest

import looplift


def counted(words):
    counts = {}
    for word in words:
        try:
            counts[word] += 1
        except KeyError:
            counts[word] = 1
    return counts


def grouped(pairs):
    groups = {}
    for a, b in pairs:
        try:
            groups[a].append(b)
        except KeyError:
            groups[a] = [b]
    return groups


def looked_up(keys, table):
    total, missing = 0.0, []
    for key in keys:
        try:
            total += table[key] * 2
        except LookupError:
            missing.append(key)
            continue
        total += 1
    return total, missing


def first_known(keys, table):
    for key in keys:
        try:
            return table[key]
        except KeyError:
            pass
    return None


def of_pairs(pairs):
    seen = {}
    for a, b in pairs:
        try:
            old = seen[a, b]
        except KeyError:
            old = 0
        seen[a, b] = old + a
    return seen


PAIRS = [(1, 2), (2, 3), (1, 5), (1, 2)] * 8
TABLE = {"a": 1.5, "b": -2.0}
CASES = [
    (counted, ["a", "b", "a", ""] * 9),
    (counted, [3, 1, 3]),
    (counted, []),
    (grouped, PAIRS),
    (looked_up, ["a", "c", "b"] * 9, TABLE),
    (first_known, ["x", "b", "a"], TABLE),
    (first_known, ["x"], TABLE),
    (of_pairs, PAIRS),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_branches(case):
    function, *given = case
    lifted = looplift.lift(function, verify="off")
    assert repr(lifted(*given)) == repr(lifted(*given)) == repr(function(*given))
    if any(given[0]):
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize(
    "table",
    [collections.defaultdict(float, TABLE), collections.Counter("ab"), [1.0, 2.0], collections.OrderedDict(TABLE)],
)
def test_what_is_no_plain_dict_is_the_loop_s(table):
    def run(call):
        keys = ["a", "c", "b"] * 3 if not isinstance(table, list) else [0, 1, 5]
        given = type(table)(table) if not isinstance(table, collections.defaultdict) else table.copy()
        try:
            return call(keys, given), given
        except Exception as error:
            return type(error), str(error), given

    assert run(looplift.lift(looked_up, verify="off")) == run(looked_up)


def test_keys_without_a_hash_raise():
    with pytest.raises(TypeError, match="unhashable") as theirs:
        counted([[1]])
    with pytest.raises(TypeError, match="unhashable") as mine:
        looplift.lift(counted, verify="off")([[1]])
    assert str(mine.value) == str(theirs.value)


def divided_first(xs, table):
    total = 0
    for x in xs:
        try:
            n = 10 // x + table[x]
        except KeyError:
            n = -1
        total += n
    return total


def test_what_raises_before_the_key_is_asked_raises():
    lifted = looplift.lift(divided_first, verify="off")
    assert lifted([1, 2, 5], {1: 3}) == divided_first([1, 2, 5], {1: 3})
    with pytest.raises(ZeroDivisionError):
        lifted([1, 0, 5], {1: 3})


def test_another_exception_under_the_name(monkeypatch):
    monkeypatch.setitem(counted.__globals__, "KeyError", ValueError)
    with pytest.raises(LookupError):
        looplift.lift(counted, verify="off")(["a", "b"])
