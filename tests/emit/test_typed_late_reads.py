"""Objects of the caller's that a program does not change are compared with the loop's, and read when they are asked."""

import numpy as np
import pytest

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Node:
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right
        self.seen = 0


def grown(low, high):
    if low >= high:
        return None
    middle = (low + high) // 2
    return Node(middle, grown(low, middle), grown(middle + 1, high))


def depths(root, keys):
    found = []
    for key in keys:
        node, depth = root, 0
        while node is not None and node.key != key:
            node = node.left if key < node.key else node.right
            depth += 1
        found.append(depth)
    return found


def marked(root, keys):
    total = 0
    for key in keys:
        node = root
        while node is not None and node.key != key:
            node.seen += 1
            total += node.seen
            node = node.left if key < node.key else node.right
    return total


def every_seen(node):
    return [] if node is None else [*every_seen(node.left), node.seen, *every_seen(node.right)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_only_read_is_verified(backend):
    lifted = lift(depths, backend=backend)
    keys = [7, 0, 59, 30, 61, -1]
    for _ in range(3):
        assert lifted(grown(0, 60), keys) == depths(grown(0, 60), keys)
    assert not any("not verified" in note for loop in lifted.report().loops for note in loop.notes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_changed_goes_back(backend):
    lifted = lift(marked, backend=backend)
    for _ in range(3):
        mine, theirs = grown(0, 40), grown(0, 40)
        assert lifted(mine, [3, 3, 39, 20]) == marked(theirs, [3, 3, 39, 20])
        assert every_seen(mine) == every_seen(theirs)


def test_objects_that_no_walk_comes_to_may_hold_anything():
    lifted = lift(depths, backend="native", verify="off")
    root = grown(0, 60)
    assert lifted(root, [1, 2]) == depths(root, [1, 2])
    root.right.left.key = "no number"
    assert lifted(root, [1, 2]) == depths(root, [1, 2])
    assert lifted.report().loops[0].decision == "native" and not lifted.report().loops[0].notes


def test_objects_that_a_walk_comes_to_may_not():
    lifted = lift(depths, verify="off")
    root = grown(0, 60)
    lifted(root, [59])
    root.right.key = "no number"
    with pytest.raises(TypeError):
        depths(root, [59])
    with pytest.raises(TypeError):
        lifted(root, [59])


class Cell:
    def __init__(self, place, cells):
        self.place, self.cells = place, cells


def moved(cells, by):
    total = 0.0
    for cell in cells:
        for k in range(len(cell.place)):
            cell.place[k] += by
        total += cell.place[0] * cell.place[1]
    return total


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_of_objects_may_overlap(backend, step):
    lifted = lift(moved, backend=backend)
    for _ in range(3):
        mine, theirs = (np.arange(14.0) for _ in range(2))
        cells = [[Cell(all_of_it[step * k : step * k + 2], []) for k in (3, 0, 5, 1)] for all_of_it in (mine, theirs)]
        assert lifted(cells[0], 0.5) == moved(cells[1], 0.5)
        assert mine.tolist() == theirs.tolist()


def largest(cells, limits):
    found = []
    for limit in limits:
        best = -1.0
        for cell in cells:
            if cell.place[0] < limit and cell.place[1] > best:
                best = cell.place[1]
        found.append(float(best))
    return found


def test_many_arrays_are_read():
    rng = np.random.default_rng(0)
    cells = [Cell(rng.normal(size=2), []) for _ in range(3000)]
    lifted = lift(largest, backend="native", verify="off")
    for _ in range(2):
        assert lifted(cells, [0.0, 1.0, -0.5]) == largest(cells, [0.0, 1.0, -0.5])
    assert lifted.report().loops[0].decision == "native"


def appended(groups, extra):
    for group in groups:
        group.cells.append(extra)
    return [len(group.cells) for group in groups]


@pytest.mark.parametrize("backend", BACKENDS)
def test_lists_that_objects_hold_are_changed(backend):
    lifted = lift(appended, backend=backend)
    for _ in range(3):
        shared = [1, 2]
        mine = [Cell(0, shared), Cell(1, shared), Cell(2, [5])]
        assert lifted(mine, 7) == [4, 4, 2]
        assert shared == [1, 2, 7, 7] and mine[2].cells == [5, 7]


class Link:
    def __init__(self, value, following):
        self.value, self.following = value, following


def linked(numbers):
    head = None
    for number in numbers:
        head = Link(number, head)
    return head


def turned(link):
    head = None
    while link is not None:
        head = Link(link.value + 1, head)
        link = link.following
    return head


def values_of(link):
    found = []
    while link is not None:
        found.append(link.value)
        link = link.following
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_long_chains_that_are_made_are_verified(backend):
    numbers = list(range(3000))
    for function, made in ((linked, list), (turned, linked)):
        lifted = lift(function, backend=backend)
        for _ in range(3):
            assert values_of(lifted(made(numbers))) == values_of(function(made(numbers)))
        assert not any("not verified" in note for loop in lifted.report().loops for note in loop.notes)


class Counter:
    def __init__(self, n):
        self.n = n


def begun_anew(counters):
    total = 0
    for counter in counters:
        counter.__init__(counter.n + 1)
        total += counter.n
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_constructor_that_is_called_by_its_name(backend):
    lifted = lift(begun_anew, backend=backend)
    for _ in range(3):
        counters = [Counter(k) for k in (3, 1, 2)]
        assert lifted(counters) == 9
        assert [one.n for one in counters] == [4, 2, 3]
