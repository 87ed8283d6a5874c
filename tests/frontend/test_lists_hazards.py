"""Loops over lists of numbers whose values make the lists differ from the tensors: what they give is the loop's."""

import collections
import heapq
import itertools
import operator
import random
import warnings

import numpy as np
import pytest
import torch
from tests.frontend.test_lists import check, integers, outcome

from looplift import lift

pytestmark = pytest.mark.usefixtures("no_programs_over_tensors")

RISING = torch.arange(60) + 1


def falling(zero_at=None):
    """Numbers of which one may be zero, by which the loop then divides."""
    numbers = RISING.clone()
    if zero_at is not None:
        numbers[zero_at] = 0
    return numbers


def joined_in_place(x, out, seen):
    for i in range(len(x)):
        out += [60 // int(x[i])]
        seen |= {int(x[i])}
    return len(seen)


def through_a_bound_method(x, out, seen):
    for i in range(len(x)):
        seen.add(60 // int(x[i]))
        list(map(out.append, [i]))
    return len(seen)


def through_a_method_of_the_type(x, out, seen):
    for i in range(len(x)):
        seen.add(60 // int(x[i]))
        list.append(out, i)
    return len(seen)


def read_with_default(x, table, seen):
    for i in range(len(x)):
        if i in table:
            seen.add(-i)
        seen.add(table[i] + 60 // int(x[i]))
    return len(seen)


def read_with_default_inside(x, tables, seen):
    for i in range(len(x)):
        if i in tables[0]:
            seen.add(-i)
        seen.add(tables[0][i] + 60 // int(x[i]))
    return len(seen)


def one_list_twice(x, pair, seen):
    first, second = pair
    for i in range(len(x)):
        first.append(60 // int(x[i]))
        second += [i]
        seen.add(len(first))
    return len(seen)


def draws_and_divides(x, out, seen):
    for i in range(len(x)):
        out.append(sorted((1, 2, 3), key=lambda _: random.random()))
        seen.add(60 // int(x[i]))
    return len(seen), random.random()


def _pair():
    one = []
    return one, one


@pytest.mark.parametrize(
    ("function", "container"),
    [
        (joined_in_place, list),
        (through_a_bound_method, list),
        (through_a_method_of_the_type, list),
        (read_with_default, lambda: collections.defaultdict(int)),
        (read_with_default_inside, lambda: [collections.defaultdict(int)]),
        (one_list_twice, _pair),
        (draws_and_divides, list),
    ],
    ids=lambda one: one.__name__,
)
def test_what_raises_half_way_changes_what_the_loop_changes(function, container):
    lifted = lift(function)
    for numbers in (falling(), falling(40), falling(), falling(0)):
        check(function, lifted, lambda numbers=numbers: (numbers.clone(), container(), set()))


def words_in_sets(x, near, out):
    found = []
    for i in range(len(x)):
        found += [(word, i) for word in near[int(x[i])]]
        near[0].discard(f"word {i}")
        out.append(60 // int(x[i] - 20))
    return found


def words_of_a_set(x, words, out):
    for i in range(len(x)):
        out += [(word, 60 // int(x[i] - 20)) for word in words]
        words.discard(f"word {i}")
    return len(words)


@pytest.mark.parametrize("function", [words_in_sets, words_of_a_set], ids=lambda f: f.__name__)
def test_sets_keep_their_order(function):
    words = {f"word {k}" for k in range(30)}
    lifted = lift(function)
    for numbers in (falling() % 9, falling() % 9, falling() % 9 + 20):
        first, second = ([set(words) for _ in range(29)] if function is words_in_sets else set(words) for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert outcome(lifted, (numbers, first, []))[0] == outcome(function, (numbers, second, []))[0]


# ---------------------------------------------------------------- indices


def rows_at(x, places):
    found = {}
    for i in range(len(x)):
        for place in places:
            found.setdefault(str(x[place].tolist()), []).append(i)
    return found


def rows_from_a_heap(x, places):
    found, heap = {}, list(places)
    for i in range(len(x)):
        place = heapq.heappop(heap)
        found.setdefault(str(x[place].tolist()), []).append(i)
        heapq.heappush(heap, place)
    return found


def truths_of(x, places):
    found = {}
    for i in range(len(x)):
        for place in places:
            for row in x[place]:
                found[i] = found.get(i, 0) + (1 if row else 2)
    return found


@pytest.mark.parametrize("function", [rows_at, rows_from_a_heap, truths_of], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "places",
    [[0, True], [np.int64(1), np.int16(0)], [torch.tensor(1), torch.tensor(0)], [torch.tensor([1]), torch.tensor([0])],
     [torch.tensor(1, dtype=torch.uint8)], [torch.tensor(True)], [slice(0, 2)], [None], [[0, 1]], [-1, -30], [-31]],
    ids=repr,
)  # fmt: skip
def test_indices_that_lists_and_tensors_think_differently_of(function, places):
    lifted = lift(function)
    for one in ([0, 1], places, [0, 1], places):
        check(function, lifted, lambda one=one: (RISING.view(30, 2).clone(), one))


def test_indices_that_are_known_to_be_numbers_are_not_asked():
    def nested(x, y):
        found, last, width = {}, 0, x.shape[1]
        for i in range(len(x)):
            for k, v in enumerate(y):
                j = int(v) % 2
                found.setdefault(int(x[i - 1, j]), []).append(float(x[last][width - 1 - k % 2]))
            last = i if y[i] > 1 else max(last, 1)
        return found

    lifted = lift(nested)
    check(nested, lifted, lambda: (RISING.view(30, 2).clone(), integers(30)))
    assert lifted.report().loops[0].decision == "lists"
    assert "_one_index" not in lifted.source


# ---------------------------------------------------------------- one object or another


def seen_twice(x):
    seen, found = set(), 0
    for i in range(len(x)):
        for _ in range(2):
            value = float(x[i])
            found += value in seen
            seen.add(value)
    return found, len(seen)


def seen_twice_computed(x):
    seen, found = set(), 0
    for i in range(len(x)):
        for _ in range(2):
            value = float(x[i] * 2)
            found += value in seen
            seen.add(value)
    return found, len(seen)


def same_objects(x):
    found, last = {}, None
    for i in range(len(x)):
        for _ in range(2):
            value = int(x[i] + 1000)
            found[value] = value is last
            last = value
    return found


@pytest.mark.parametrize("function", [seen_twice, seen_twice_computed, same_objects], ids=lambda f: f.__name__)
def test_numbers_that_are_read_twice_are_two_objects(function):
    lifted = lift(function)
    for nan in (False, True, False):
        numbers = RISING * 1.0
        if nan:
            numbers[7] = float("nan")
        for make in (numbers.clone, numbers.numpy().copy):
            if function is not same_objects or not nan:
                check(function, lifted, lambda make=make: (make(),))


def left_by_break(x, stops):
    found = {}
    for one in x:
        if stops[len(found) % 2]:
            break
        one = int(one)
        found[len(found)] = one
    return found, one


def going_on(x, skips):
    found = {}
    for one in x:
        if skips[len(found) % 2]:
            found[len(found)] = None
            continue
        one = int(one)
        found[len(found)] = one
    return found, one


@pytest.mark.parametrize("function", [left_by_break, going_on], ids=lambda f: f.__name__)
def test_an_element_that_is_seen_after_the_loop_is_no_number(function):
    lifted = lift(function)
    for flags in ([0, 0], [0, 1], [1, 0]):
        check(function, lifted, lambda flags=flags: (RISING.clone(), flags))


def readers(x):
    found, later = {}, []
    for i in range(len(x)):
        found[int(x[i])] = any(int(one) > 40 for one in x)
        later.append(int(one) for one in x[i:])
    return found, later


def test_what_is_read_later_is_read_then():
    lifted = lift(readers)
    for _ in range(2):
        x = torch.arange(10)
        _, later = lifted(x)
        x += 100
        assert [list(one) for one in later] == [list(range(100 + i, 110)) for i in range(10)]


# ---------------------------------------------------------------- tensors that are changed meanwhile


def by_position_of_a_method(x):
    found = {}
    for i in range(len(x)):
        found[int(x[i])] = i
        x.clip(0, 1, x)
    return found


def by_a_method_of_the_type(x):
    found = {}
    for i in range(len(x)):
        found[int(x[0])] = i
        np.ndarray.sort(x)
    return found


def by_a_function_that_may_copy(x):
    found = {}
    for i in range(len(x)):
        found[str(float(x[i]))] = i
        np.nan_to_num(x, copy=False)
    return found


def by_a_function_that_is_handed_on(x):
    found = {}
    for i in range(len(x)):
        found[int(x[0])] = i
        list(itertools.accumulate([x, x], operator.iadd))
    return found


def by_keyword(x):
    found, held = {}, {}
    for i in range(len(x)):
        found[int(x[0])] = i
        held.update(key=x)
        other = held["key"]
        other[0] = -i
    return found


def by_several_targets(x):
    found, held = {}, {}
    alias = held
    for i in range(len(x)):
        found[int(x[0])] = i
        held = alias
        k, held["x"] = 1, x
        other = alias["x"]
        other[0] = -i * k
    return found


def by_starred_values(x):
    found = {}
    for i in range(len(x)):
        found[int(x[0])] = i
        _, other, _ = *[i, x], 5, *[]
        other += 1
    return found


@pytest.mark.parametrize(
    "function",
    [by_position_of_a_method, by_a_method_of_the_type, by_a_function_that_may_copy, by_a_function_that_is_handed_on,
     by_keyword, by_several_targets, by_starred_values],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_arrays_that_are_changed_meanwhile_are_no_lists(function):
    lifted = lift(function)
    for numbers in ([1.0] * 50, [1.0] * 50, [float(k) for k in range(50, 0, -1)], [float("nan"), *range(49)]):
        check(function, lifted, lambda numbers=numbers: (np.array(numbers),))


def test_what_a_loop_does_not_compute_is_not_warned_of():
    def logarithms(x):
        found = {}
        for i in range(len(x)):
            if x[i, 0] > 0:
                found.setdefault(round(float(np.log(x[i, 0]))), []).append(i)
        return found

    lifted = lift(logarithms)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in (1.0, -20.0, 1.0):
            check(logarithms, lifted, lambda start=start: (np.arange(start, start + 50).reshape(25, 2),))


def test_effects_are_not_repeated():
    def trained(x, weight):
        found = {}
        for i in range(len(x)):
            found.setdefault(int(x[i]), []).append(i)
            (weight * 2).sum().backward()
        return found, weight.grad

    check(trained, lift(trained), lambda: (RISING.clone(), torch.ones(3, requires_grad=True)))
