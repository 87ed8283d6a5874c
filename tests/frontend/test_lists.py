"""Loops that stay, over lists of numbers instead of tensors."""

import collections
import copy
import heapq
import random
import sys

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

pytestmark = pytest.mark.usefixtures("no_programs_over_tensors")


def groups(x, labels):
    found = {}
    for i in range(len(x)):
        found.setdefault(int(labels[i]), []).append(x[i])
    return {key: len(rows) for key, rows in found.items()}, found


def counts(tokens):
    found = {}
    for token in tokens:
        key = token.item()
        found[key] = found.get(key, 0) + 1
    return found


def shortest_paths(weights, start):
    distance = [float("inf")] * len(weights)
    distance[start] = 0.0
    heap, done = [(0.0, start)], set()
    while heap:
        reached, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v in range(len(weights)):
            if weights[u, v] > 0 and reached + weights[u][v].item() < distance[v]:
                distance[v] = reached + float(weights[u, v])
                heapq.heappush(heap, (distance[v], v))
    return distance


def root_of(parent, a):
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


def spanning_tree(first, second, weight, n):
    parent, total = list(range(n)), 0.0
    for k in torch.argsort(weight).tolist():
        a, b = root_of(parent, int(first[k])), root_of(parent, int(second[k]))
        if a != b:
            parent[a] = b
            total += float(weight[k])
    return parent, total


def fill(table, keys, values):
    for key, value in zip(keys, values):
        table[int(key)] = float(value)


def words(ids, names, flags):
    out, line = [], ""
    for row, flag in zip(ids, flags):
        for one in row:
            line += names[one] if flag else "-"
        out.append(line)
    return out


def recent(times, kinds):
    last, gaps = collections.defaultdict(float), collections.deque(maxlen=5)
    for i, kind in enumerate(kinds):
        gaps.append((int(kind), float(times[i]) - last[int(kind)]))
        last[int(kind)] = float(times[i])
    return list(gaps), dict(last)


def parsed(codes, stack):
    for code in [int(one) for one in codes]:
        if code >= 0:
            stack.append(code)
        else:
            stack[-2:] = [stack[-1] + stack[-2]]
    return stack[-1]


def integers(*size, high=5):
    return torch.randint(0, high, size, generator=torch.Generator().manual_seed(0))


WEIGHTS = torch.relu(torch.randn(12, 12, generator=torch.Generator().manual_seed(0)))
CASES = [
    (groups, lambda: (torch.arange(400.0).view(200, 2), integers(200))),
    (counts, lambda: (integers(300),)),
    (counts, lambda: (integers(300).numpy().astype(np.int16),)),
    (shortest_paths, lambda: (WEIGHTS.clone(), 0)),
    (shortest_paths, lambda: (WEIGHTS.bfloat16(), 3)),
    (spanning_tree, lambda: (integers(200, high=40), integers(200, high=40).flip(0), torch.rand(200), 40)),
    (fill, lambda: ({7: "kept", 3: None}, integers(100, high=30), torch.rand(100))),
    (words, lambda: (integers(60, 4), ["a", "bc", "d", "", "e"], integers(60, high=2).bool())),
    (recent, lambda: (torch.arange(200.0), integers(200))),
    (parsed, lambda: (torch.cat([integers(60), -torch.ones(40, dtype=torch.long)]), [3])),
]


def outcome(function, arguments):
    torch.manual_seed(0)
    random.seed(0)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error), arguments


def check(function, lifted, make):
    arguments = make()
    wanted = outcome(function, copy.deepcopy(arguments))
    assert not difference(outcome(lifted, copy.deepcopy(arguments)), wanted, path="values")


def becomes(function, make, *expected):
    """The lifted function, which does what the loop does, three times; some loop of it becomes one of the expected."""
    lifted = lift(function)
    for _ in range(3):
        check(function, lifted, make)
    assert expected == (None,) or {*expected} & {loop.decision for loop in lifted.report().loops}
    return lifted


@pytest.mark.parametrize(("function", "make"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_numbers_of_tensors_are_read_from_lists(function, make):
    becomes(function, make, "lists", "native")


def test_what_the_loop_raises_leaves_behind_what_the_loop_does():
    lifted = lift(fill)
    for _ in range(2):
        check(fill, lifted, CASES[6][1])
    check(fill, lifted, lambda: ({}, integers(100, high=30), [*torch.rand(50), None]))
    pop = lift(parsed)
    for stack in ([3], [3], []):
        check(parsed, pop, lambda stack=stack: (torch.tensor([1, -1, -1, -1, 2] * 30), list(stack)))


def test_a_container_that_comes_to_hold_tensors_is_seen():
    def added(table, keys, x):
        for i in range(len(keys)):
            table[int(keys[i])] += 1
        return x + 0

    x = torch.zeros(5)
    lifted = lift(added)
    for table in ([0] * 5, [0] * 5, [x[k] for k in range(5)], [0] * 5):
        check(added, lifted, lambda table=table: (table, integers(100), x))
    arguments = ([x[k] for k in range(5)], integers(100), x)
    assert lifted(*arguments).sum() == 100  # its items are views of it


def in_place(x):
    total, seen = x[0], {}
    for i in range(len(x)):
        seen[int(x[i])] = i
        total += int(x[i])
    return total, seen


def through_a_list(x):
    rows, seen = [x], {}
    for i in range(len(x)):
        seen[int(x[i])] = i
        rows[0][0] = i
    return seen


def through_an_alias(x):
    held, seen = {}, {}
    for i in range(len(x)):
        seen[int(x[i])] = i
        held["x"] = x
        other = held["x"]
        other[0] = i
    return seen


def changed(buffer):
    buffer[0] = buffer[0] + 1


def through_a_function(x):
    seen = {}
    for i in range(len(x)):
        seen[int(x[0])] = i
        changed(x)
    return seen


def handed_on(x):
    seen = {}
    for i in range(len(x)):
        seen[int(x[0])] = i
        list(map(changed, [x]))
    return seen


def in_a_lambda(x):
    seen = {}
    for i in range(len(x)):
        seen[int(x[0])] = i
        list(map(lambda one: changed(one), [x]))
    return seen


def by_position(x):
    seen = {}
    for i in range(len(x)):
        seen[int(x[0])] = i
        np.add(x, 1, x)
    return seen


def sorted_rows(x):
    seen = {}
    for i in range(len(x)):
        seen[int(x[0])] = i
        x.sort()
    return seen


def narrow(x):
    seen = {}
    for i in range(len(x)):
        if x[i] > 0.1:
            seen[int(x[i] * 10)] = i
    return seen


CHANGED = [
    in_place,
    through_a_list,
    through_an_alias,
    through_a_function,
    handed_on,
    in_a_lambda,
    by_position,
    sorted_rows,
]


@pytest.mark.parametrize("function", CHANGED, ids=lambda f: f.__name__)
def test_tensors_that_are_changed_meanwhile_are_no_lists(function):
    numbers = np.arange(50)[::-1].copy()
    lifted = lift(function)
    for make in (torch.from_numpy, np.asarray) if function not in (by_position, sorted_rows) else (np.asarray,):
        for _ in range(2):
            check(function, lifted, lambda make=make: (make(numbers.copy()),))
    assert "lists" not in [loop.decision for loop in lifted.report().loops]


def test_comparisons_are_made_in_the_dtype_of_the_tensor():
    lifted = lift(narrow)
    for _ in range(3):
        check(narrow, lifted, lambda: (torch.tensor([0.1, 0.2, 0.3, 0.0999999] * 40),))


SIZE = 1.5


def step(table, k):
    table[k] = table.get(k, 0) + SIZE


def stepped(x):
    table = {}
    for i in range(len(x)):
        step(table, int(x[i]))
    return table


def test_a_function_that_is_called_is_looked_at_again_when_it_changes(monkeypatch):
    lifted = lift(stepped)
    for _ in range(2):
        check(stepped, lifted, lambda: (integers(200),))
    assert lifted.report().loops[0].decision == "lists"
    for size in (2.5, torch.tensor(1.0)):
        monkeypatch.setattr(sys.modules[__name__], "SIZE", size)
        check(stepped, lifted, lambda: (integers(200),))


def renamed(tokens):
    found = {}
    for token in tokens:
        token = token.item()
        found[token] = found.get(token, 0) + 1
    return found, token


def first_places(labels, n):
    seen, out = set(), torch.full((n,), -1)
    for i in range(len(labels)):
        k = int(labels[i])
        if k not in seen:
            seen.add(k)
            out[k] = i
    return out


def into_an_argument(labels, out):
    seen = {}
    for i, label in enumerate(labels):
        seen.setdefault(int(label), []).append(i)
        out[i] += len(seen[int(label)])
    return seen


def into_itself(labels):
    return into_an_argument(labels, labels)


@pytest.mark.parametrize(
    ("function", "make", "expected"),
    [
        (renamed, lambda: (integers(200),), "lists"),
        (renamed, lambda: (integers(0),), None),
        (first_places, lambda: (integers(200), 5), "lists"),
        (first_places, lambda: (integers(200), 3), None),
        (into_an_argument, lambda: (integers(200), torch.zeros(200)), "lists"),
        (into_an_argument, lambda: (integers(200).numpy(), np.zeros(200, np.uint8)), "native"),
        (into_an_argument, lambda: (integers(200), torch.zeros(50)), None),
        (into_itself, lambda: (integers(200),), None),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_stores_into_other_tensors(function, make, expected):
    becomes(function, make, expected)


def test_an_argument_that_shares_memory_is_no_list():
    lifted = lift(into_an_argument)
    for shared in (False, True, False):

        def make(shared=shared):
            both = integers(400)
            return both[:200], both[100:300] if shared else both[:200].clone()

        check(into_an_argument, lifted, make)


def clusters(x, centres):
    members = {}
    for i in range(len(x)):
        nearest = int((x[i] - centres).norm(dim=1).argmin())
        members.setdefault(nearest, []).append(i)
    return members


def unlike(x, names):
    seen, out = set(), []
    for k, (row, name) in enumerate(zip(x, names)):
        key = round(row.sum().item(), 1)
        if row.max() > 0.9 and not (key in seen or row[0] > row[1]):
            seen.add(key)
            out.append((name, k))
    return out, key


def tenths(values):
    found = {}
    for value in values:
        found[int(value * 10 // 1)] = found.get(int(value * 10 // 1), 0) + 1
    return found


def shrinking(x, kept):
    found = {}
    for i in range(len(x)):
        found[int(x[i].sum() * 10)] = i
        kept[i] = x[i].sum()
    return found


def over_a_list(x, near):
    found = {}
    for i in range(len(near)):
        found.setdefault(int(x[near[i]].sum() * 10), []).append(i)
        near[i] = 0
    return found


def with_names_of_its_own(x, zip):
    found = {}
    for i in range(len(x)):
        found[int(x[i].sum() * 10)] = zip
    return found


ROWS = torch.rand(200, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("function", "make", "expected"),
    [
        (clusters, lambda: (ROWS.clone(), ROWS[:7].clone()), "lists"),
        (clusters, lambda: (ROWS[:0], ROWS[:7]), None),
        (clusters, lambda: (ROWS, ROWS[:0]), None),
        (clusters, lambda: (ROWS.numpy(), 3.0), None),
        (unlike, lambda: (ROWS.clone(), [f"name {k % 9}" for k in range(150)]), "lists"),
        (unlike, lambda: (ROWS.clone(), []), None),
        (tenths, lambda: (ROWS.flatten(),), "lists"),
        (tenths, lambda: (ROWS.numpy().flatten(),), "native"),
        (tenths, lambda: (torch.tensor([0.5] * 99 + [float("nan")]),), None),
        (shrinking, lambda: (ROWS.clone(), ["x"] * 200), "lists"),
        (shrinking, lambda: (ROWS.clone(), ["x"] * 90), None),
        (over_a_list, lambda: (ROWS.clone(), [k % 7 for k in range(200)]), None),
        (with_names_of_its_own, lambda: (ROWS.clone(), "zip"), None),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_numbers_are_computed_before_the_loop(function, make, expected):
    becomes(function, make, expected)


def test_rows_that_are_changed_meanwhile_are_not_computed_before():
    def doubled(x):
        found = {}
        for i in range(len(x)):
            found[int(x[0].sum() * 100)] = i
            x[0] *= 1.5
        return found

    lifted = lift(doubled)
    for _ in range(3):
        check(doubled, lifted, lambda: (ROWS[:40].clone(),))


def test_lists_take_no_more_memory_than_is_allowed():
    small, large = lift(counts, memory=40 * 500), lift(counts, memory=40 * 100)
    for lifted in (small, large):
        for _ in range(2):
            check(counts, lifted, lambda: (integers(300),))
    assert [lifted.report().loops[0].decision for lifted in (small, large)] == ["lists", "kept"]
    check(counts, small, lambda: (integers(900),))


def with_like_names(tokens, x, token_element, numbers_0):
    found = {}
    for i, token in enumerate(tokens):
        token = int(token)
        found[token] = (found.get(token, token_element), int(x[i].sum() * 10), numbers_0)
    numbers_0_item = len(found)
    return found, numbers_0_item


def test_names_that_are_made_up_are_new():
    lifted = lift(with_like_names)
    for _ in range(3):
        check(with_like_names, lifted, lambda: (integers(200), ROWS.clone(), "element", "numbers"))
    assert lifted.report().loops[0].decision == "lists"


def test_a_list_whose_last_item_is_replaced():
    def merged(pairs, shortest):
        out = []
        for value, length in pairs:
            if out and (length < shortest or out[-1][0] == value):
                out[-1] = (out[-1][0], out[-1][1] + length)
            else:
                out.append((value, length))
        return out

    pairs = [(True, 5), (True, 2), (False, 7), (True, 1), (False, 3), (True, 9)]
    for backend in ("auto", "torch", "native"):
        lifted = lift(merged, backend=backend, verify="off")
        for given in (pairs, pairs[:1], []):
            assert lifted(given, 3) == merged(given, 3)
        if backend == "torch":
            assert "before the loop fills it, and places of it change" in " ".join(str(lifted.report()).split())
        else:
            assert [loop.decision for loop in lifted.report().loops] == ["native"]
