"""``zip(*rows)`` and ``map`` in programs over lists and text."""

import random

import pytest

import looplift

RNG = random.Random(0)
FLOATS = [[RNG.gauss(0, 1) for _ in range(7)] for _ in range(9)]
BITS = [[RNG.randint(0, 1) for _ in range(20)] for _ in range(3)]
PAIRS = [(RNG.random(), RNG.randint(0, 9)) for _ in range(12)]


def common_prefix(words):
    out = ""
    for letters in zip(*words):
        if len(set(letters)) > 1:
            break
        out += letters[0]
    return out


def turned(rows):
    for _ in range(5):
        rows = [list(row) for row in zip(*rows[::-1])]
    return rows


def transposed(rows):
    for _ in range(3):
        rows = list(map(list, zip(*rows)))
    return rows


def patterns(rows):
    seen = {}
    for column in zip(*rows):
        seen[column] = seen.get(column, 0) + 1
    return seen


def medians(rows):
    out = []
    for column in zip(*rows):
        ordered = sorted(column)
        out.append(ordered[len(ordered) // 2])
    return out


def product(a, b):
    out = []
    for row in a:
        out.append([sum(x * y for x, y in zip(row, column)) for column in zip(*b)])
    return out


def taken_apart(pairs):
    total = 0.0
    for k in range(6):
        xs, ys = zip(*pairs)
        total += sum(xs) * k - max(ys) + len(xs)
    return total


def grown_meanwhile(rows):
    out = []
    for column in zip(*rows):
        if len(rows) < 20:
            rows.append([0.0])
        rows[0].append(1.0)
        out.append(len(column))
        if len(out) > 30:
            break
    return out, rows


def numbers_in(lines):
    total = 0
    for line in lines:
        total += sum(map(int, line.split(",")))
    return total


def widest(lines):
    best = 0
    for line in lines:
        low, high = map(int, line.split("-"))
        best = max(best, high - low)
    return best


def square(v):
    return v * v + 1


def mapped(rows, k=0.5):
    out = []
    for row in rows:
        out.append((sum(map(square, row)), max(map(lambda v: v * k, row)), list(map(abs, row))))
        out[-1][2].append(float(any(map(lambda v: v > 1, row))))
    return out


def codes(words):
    seen = {}
    for word in words:
        key = tuple(map(ord, word))
        seen[key] = seen.get(key, 0) + 1
    return seen


def in_turn(rows):
    out = []

    def note(v):
        out.append(v)
        return v * 2

    for row in rows:
        for v in map(note, row):
            out.append(v)
            if v > 2:
                break
    return out


CASES = [
    (common_prefix, ["flower", "flow", "flight"] * 5),
    (common_prefix, ["ab", ""] * 5),
    (turned, FLOATS),
    (transposed, FLOATS),
    (patterns, BITS),
    (medians, FLOATS),
    (product, FLOATS[:7], FLOATS[:7]),
    (product, FLOATS, [tuple(row) for row in zip(*FLOATS)]),
    (taken_apart, PAIRS),
    (numbers_in, ["1,-2,3", "44"] * 6),
    (widest, ["1-5", "3-44"] * 6),
    (mapped, FLOATS),
    (codes, ["ab", "ba", "ab", ""] * 5),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_in_programs(case):
    function, *arguments = case
    lifted = looplift.lift(function, verify="off")
    want, got = function(*arguments), lifted(*arguments)
    assert repr(got) == repr(want)
    assert all(loop.decision == "native" for loop in lifted.report().loops)


@pytest.mark.parametrize(
    "case",
    [
        (common_prefix, []),
        (transposed, [[1.0, 2.0], [3.0]] * 4),
        (medians, [[1.0], []]),
        (taken_apart, []),
        (taken_apart, [(1.0, 2, 3)] * 4),
        (widest, ["1-2-3"] * 4),
        (numbers_in, ["1,x"] * 4),
        (grown_meanwhile, [[1.0, 2.0], [3.0, 4.0, 5.0]]),
        (in_turn, [[0.5, 1.5, 3.0], [1.0]] * 3),
    ],
    ids=lambda case: case[0].__name__,
)
def test_ends_and_errors_are_the_loop_s(case):
    def run(call):
        arguments = [[list(row) if isinstance(row, list) else row for row in one] for one in case[1:]]
        try:
            return repr(call(*arguments)), arguments
        except Exception as error:
            return type(error), str(error), arguments

    assert run(looplift.lift(case[0], verify="off")) == run(case[0])


def mapped_beside(a, b):
    log, total = [], 0
    for x, y in zip(map(lambda v: log.append(v) or v, a), b):
        total += x * y
    return total, log


def mapped_by_a_method(xs):
    d, e, out = {1: 2, 3: 4}, {1: 5, 3: 6}, []
    for v in map(d.get, xs):
        out.append(v)
        d = e
    return out


def turned_around(xs):
    total = 0
    for x in reversed(map(abs, xs)):
        total += x
    return total


def test_map_is_asked_once_more_and_its_function_is_bound_once():
    for a, b in ((list(range(9)), [1, 2]), ([1, 2], list(range(9)))):
        assert looplift.lift(mapped_beside, verify="off")(a, b) == mapped_beside(a, b)
    assert looplift.lift(mapped_by_a_method, verify="off")([1, 3] * 9) == mapped_by_a_method([1, 3] * 9)
    with pytest.raises(TypeError, match="reversible"):
        looplift.lift(turned_around, verify="off")([1, 2])
