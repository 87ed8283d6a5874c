"""Generator functions in programs: their statements and those of the loop over them run in turns."""

import copy
import dataclasses
import heapq
import sys
from collections import Counter, deque

import pytest
import torch

import looplift


def neighbours(y, x, h, w):
    for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        if 0 <= y + dy < h and 0 <= x + dx < w:
            yield y + dy, x + dx


def breadth_first(h, w, starts):
    farthest = []
    for start in starts:
        distance, queue = {start: 0}, deque([start])
        while queue:
            y, x = queue.popleft()
            for p in neighbours(y, x, h, w):
                if p not in distance:
                    distance[p] = distance[y, x] + 1
                    queue.append(p)
        farthest.append(max(distance.values()))
    return farthest


class Grid:
    def __init__(self, cost):
        self.cost = cost
        self.h, self.w = len(cost), len(cost[0])

    def around(self, place, step=1):
        y, x = place
        if y >= step:
            yield y - step, x
        if x >= step:
            yield y, x - step
        if y + step < self.h:
            yield y + step, x
        if x + step < self.w:
            yield y, x + step

    def everywhere(self):
        for y in range(self.h):
            for x in range(self.w):
                yield y, x

    def open_places(self, most):
        for p in self.everywhere():
            if self.cost[p[0]][p[1]] <= most:
                yield p


def cheapest(cost, starts):
    grid, found = Grid(cost), []
    for start in starts:
        best, heap = {start: 0.0}, [(0.0, start)]
        while heap:
            d, p = heapq.heappop(heap)
            if d > best[p]:
                continue
            for q in grid.around(p):
                new = d + cost[q[0]][q[1]]
                if q not in best or new < best[q]:
                    best[q] = new
                    heapq.heappush(heap, (new, q))
        found.append(sum(d for d in best.values() if d < 100))
    return found


def of_one_another(cost):
    grid = Grid(cost)
    return [[len([q for q in grid.around(p)]), p[0], p[1]] for p in grid.open_places(5.0)]


def counting(log, n):
    for k in range(n):
        log.append(k)
        yield k
        log.append(-k)
    log.append(99)


def stopped(log, limits):
    total = 0
    for limit in limits:
        for k in counting(log, 6):
            if k == limit:
                break
            if k % 2:
                continue
            total += k
        else:
            total += 100
            log.append(-1)
    return total


def returned(log, limits):
    for limit in limits:
        for k in counting(log, 5):
            for j in counting(log, k):
                if j == limit:
                    return k, j
                log.append(7)
    return -1, -1


def any_and_all(log, limits):
    found = []
    for limit in limits:
        found.append(any(k == limit for k in counting(log, 6)))
        found.append(all(k < limit for k in counting(log, 6)))
        found.append(any(counting(log, limit)))
    return found


def growing(items, limit):
    for item in items:
        yield item
        if len(items) < limit:
            yield -item


def in_turns(log, limits):
    out = []
    for limit in limits:
        items = [1, 2]
        for item in growing(items, limit):
            out.append(item)
            if item > 0 and len(items) < 9:
                items.append(item + 1)
        out.append(len(items))
    return out


def of_what_it_extends(log, limits):
    out = [1]
    for limit in limits:
        out.extend(doubled(out, limit))
        out += doubled(out, limit + 2)
        out.extend(x + 1 for x in out if len(out) < limit + 4)
        seen = {limit}
        seen.update(doubled(out, limit + 9))
        out.append(len(seen))
        counts = Counter([limit])
        counts.update(rare(counts, out))
        counts.update(x for x in out if counts[x] < 3)
        out.append(max(counts.values()))
    return out


def rare(counts, items):
    for item in items:
        if counts[item] < 2:
            yield item


def doubled(items, limit):
    for item in items:
        if len(items) >= limit:
            return
        yield item * 2


def gathered(log, limits):
    found, names = [], ""
    for limit in limits:
        found.append(list(counting(log, limit)))
        found.append([sum(counting(log, limit)), len(set(counting(log, limit)))])
        found.append(sorted(counting(log, limit), key=lambda k: (k % 3, k), reverse=True))
        found.append([max(counting(log, limit + 1)), min(counting(log, limit), default=-5)])
        found.append(list(tuple(counting(log, limit))))
        found.append([k * i for i, k in enumerate(counting(log, limit), 2)])
        names += ",".join(letters(limit))
        for i, k in enumerate(counting(log, limit)):
            found.append([i, k])
            if i == 2:
                break
    return found, names


def letters(n):
    for k in range(n):
        yield chr(ord("a") + k)


def maybe(items):
    for item in items:
        if item > 2:
            yield item
        elif item == 0:
            yield
        else:
            yield 0.5 * item


def of_kinds(log, limits):
    out = []
    for item in maybe(limits):
        if item is None:
            out.append(-1.0)
        else:
            out.append(item * 2)
    return out


def dividing(n):
    for k in range(n, -1, -1):
        yield 12 // k


def before_it_raises(log, limits):
    out = []
    for limit in limits:
        for q in dividing(limit):
            out.append(q)
            if q == 12:
                break
    return out


def inner(log, limits):
    step, out = 1, []

    def steps(n):
        nonlocal step
        k = 0
        while k < n:
            yield k
            k += step
            if k > 4:
                step += 1

    for limit in limits:
        for k in steps(limit * 3):
            out.append((k, step))
            if k == 2:
                step = 2
        out.append((step, limit))
    return out


CASES = [
    (stopped, [9, 3, 0]),
    (returned, [9, 2, 1]),
    (returned, [9]),
    (any_and_all, [9, 3, 0]),
    (in_turns, [0, 3, 8]),
    (of_what_it_extends, [3, 8, 12]),
    (gathered, [0, 3, 5]),
    (of_kinds, [0, 1, 5]),
    (before_it_raises, [5, 3]),
    (inner, [2, 3]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_statements_run_in_turns(case, backend):
    function, limits = case
    lifted = looplift.lift(function, verify="off", backend=backend)
    logs = [5], [5], [5]
    found = [repr(call(log, list(limits))) for call, log in zip((function, lifted, lifted), logs, strict=True)]
    assert found[0] == found[1] == found[2] and logs[0] == logs[1] == logs[2]
    if backend != "torch":
        assert {loop.decision for loop in lifted.report().loops} == {"native"}


COST = [[(3 * y + 7 * x) % 11 / 2 for x in range(6)] for y in range(5)]
SEARCHES = [
    (breadth_first, 5, 7, [(0, 0), (2, 3)]),
    (cheapest, COST, [(0, 0), (4, 5)]),
    (of_one_another, COST),
]


@pytest.mark.parametrize("case", SEARCHES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_searches_over_what_is_around(case, backend):
    function, *given = case
    lifted = looplift.lift(function, verify="off", backend=backend)
    assert repr(lifted(*given)) == repr(lifted(*given)) == repr(function(*given))
    if backend != "torch":
        assert {loop.decision for loop in lifted.report().loops} <= {"native"}


def failing(log, limits):
    for limit in limits:
        for k in dividing(limit):
            log.append(k)
    return log


def test_what_a_generator_raises_is_raised_in_its_turn():
    logs = [], []
    with pytest.raises(ZeroDivisionError):
        failing(logs[0], [3, 2])
    with pytest.raises(ZeroDivisionError):
        looplift.lift(failing, verify="off")(logs[1], [3, 2])
    assert logs[0] == logs[1] == [4, 6, 12]


@dataclasses.dataclass
class Node:
    value: float
    children: list

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self):
        if not self.children:
            yield self.value
        for child in self.children:
            for leaf in child.leaves():
                yield leaf


def tree(depth, width=3):
    return Node(depth + 0.5 * width, [tree(depth - 1, k + 1) for k in range(width if depth else 0)])


def walked(trees, limit):
    found = []
    for root in trees:
        total = 0.0
        for node in root.walk():
            total += node.value * len(node.children)
            if total > limit:
                break
        found.append(total)
        found.append(sum(leaf for leaf in root.leaves()))
        found.append(len(list(root.walk())))
    return found


@pytest.mark.parametrize("limit", [3.0, 1e9])
def test_walks_of_trees(limit):
    trees = [tree(3), tree(0), tree(2)]
    lifted = looplift.lift(walked, verify="off")
    assert lifted(trees, limit) == lifted(trees, limit) == walked(trees, limit)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def chain(n):
    node = Node(0.0, [])
    for k in range(n):
        node = Node(float(k), [node])
    return node


def test_walks_that_are_too_deep_raise():
    deep = [chain(sys.getrecursionlimit() + 50)]
    lifted = looplift.lift(walked, verify="off")
    assert lifted([chain(90)], 1e9) == walked([chain(90)], 1e9)
    with pytest.raises(RecursionError):
        walked(deep, 1e9)
    with pytest.raises(RecursionError):
        lifted(deep, 1e9)


def weighed(values, limits):
    total = torch.zeros(())
    kept = []
    for limit in limits:
        for k in growing(list(range(1, 4)), limit):
            if values[k].item() < 0:
                break
            total = total + values[k] * k
            kept.append(k)
    return total, kept


def test_gradients():
    found = []
    for call in (weighed, looplift.lift(weighed, verify="off")):
        values = torch.tensor([0.5, 1.5, -2.0, 0.25, 3.0], dtype=torch.float64, requires_grad=True)
        total, kept = call(values, [0, 5, 9])
        total.backward()
        found.append((total.item(), kept, values.grad.tolist()))
    assert found[0] == found[1]


def held(log, limits):
    out = []
    for limit in limits:
        numbers = counting(log, limit)
        for k in numbers:
            out.append(k)
            if k == 1:
                break
        out.extend(numbers)
    return out


def paired(log, limits):
    return [[a + b for a, b in zip(counting(log, limit), counting(log, 3))] for limit in limits]


@pytest.mark.parametrize("function", [held, paired])
def test_iterators_that_are_kept_are_the_loop_s(function):
    logs = [], []
    lifted = looplift.lift(function, verify="off")
    assert function(logs[0], [4, 1]) == lifted(logs[1], [4, 1]) and logs[0] == logs[1]
    assert {loop.decision for loop in lifted.report().loops} == {"kept"}


def threefold(n):
    for k in range(n):
        yield 3 * k


def test_a_generator_function_that_changes_is_another_one(monkeypatch):
    lifted = looplift.lift(uses_module, verify="off")
    assert lifted([2, 3]) == uses_module([2, 3]) == [0, 1, 0, 1, 2]
    monkeypatch.setattr(sys.modules[__name__], "each_of", threefold)
    assert lifted([2, 3]) == uses_module([2, 3]) == [0, 3, 0, 3, 6]


def each_of(n):
    for k in range(n):
        yield k


def uses_module(limits):
    out, seen = [], set()
    for limit in limits:
        for k in each_of(limit):
            out.append(k)
            seen.add(k)
    return out


def test_what_is_given_stays_what_it_is():
    trees = [tree(2)]
    before = copy.deepcopy(trees)
    looplift.lift(walked, verify="off")(trees, 5.0)
    assert trees == before
