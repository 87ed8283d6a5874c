"""Tables of numbers that a region makes and stores to, as lists until they are used as a whole."""

import collections
import heapq

import numpy as np
import pytest
import torch
from tests.frontend.test_lists import becomes, check, integers

from looplift import lift

pytestmark = pytest.mark.usefixtures("no_programs_over_tensors")


def ranks(idx):
    seen = {}
    rank = torch.zeros_like(idx)
    for i in range(len(idx)):
        key = int(idx[i])
        rank[i] = seen.get(key, 0)
        seen[key] = seen.get(key, 0) + 1
    return rank


def components(mask):
    height, width = mask.shape
    labels = torch.zeros(height, width, dtype=torch.int64)
    sizes, current = {}, 0
    for y in range(height):
        for x in range(width):
            if not mask[y, x] or labels[y, x] != 0:
                continue
            current += 1
            stack = [(y, x)]
            labels[y, x] = current
            while stack:
                cy, cx = stack.pop()
                sizes[current] = sizes.get(current, 0) + 1
                for ny, nx in ((cy - 1, cx), (cy + 1, cx), (cy, cx - 1), (cy, cx + 1)):
                    if 0 <= ny < height and 0 <= nx < width and mask[ny, nx] and labels[ny, nx] == 0:
                        labels[ny, nx] = current
                        stack.append((ny, nx))
    return labels, sizes


def distances(source, target, n, start):
    distance = np.full(n, np.inf)
    seen = np.zeros(n, dtype=bool)
    reached = np.zeros(n)
    near = collections.defaultdict(list)
    for e in range(len(source)):
        near[int(source[e])].append(int(target[e]))
    queue = [(0.0, start)]
    while queue:
        so_far, u = heapq.heappop(queue)
        if seen[u]:
            continue
        seen[u] = True
        distance[u] = so_far
        for v in near[u]:
            reached[v] += 1
            if not seen[v]:
                heapq.heappush(queue, (so_far + 0.5 + v % 3, v))
    return distance, seen, reached.sum(), len(reached)


def measured(keys):
    cache = collections.OrderedDict()
    hits = torch.zeros(len(keys), dtype=torch.bool)
    shares = torch.ones(hits.shape[0])
    for t in range(len(hits)):
        k = keys[t].item()
        hits[t] = k in cache
        cache[k] = t
        shares[t] = len(cache) / 7
        if len(cache) > 3:
            cache.popitem(last=False)
    return hits, hits.float().mean() + shares.sum(), shares


def counted(idx, values, n):
    table = torch.zeros(n, 3, dtype=torch.int64)
    seen = {}
    for i in range(len(idx)):
        k = int(idx[i])
        row = table[k % 2]
        seen.setdefault(k, []).append(int(row[0]))
        table[k % 2, 0] += values[i % len(values)]
        table[k % 2][1] -= 1
        if table[0, 1] == k:
            table[0, 2] = idx[i]
        if table[1, 0] < k:
            table[1, 2] *= 2
    return table, seen


def taken_and_put(idx, places):
    table = torch.zeros(9, dtype=torch.int64)
    seen = {}
    for i in range(len(idx)):
        seen[int(idx[i])] = i
        table[places[-1]] += places.pop()
    return table, seen


def seen_through_another_name(idx):
    table = torch.zeros(9, dtype=torch.int64)
    other, seen = table, {}
    for i in range(len(idx)):
        seen[int(idx[i])] = int(other[3])
        table[idx[i]] = i
    return table, seen, other


def an_element_that_changes(idx):
    table = torch.zeros(9, dtype=torch.int64)
    seen = {}
    for i in range(len(idx)):
        element = table[3]
        table[3] = i
        seen[i] = int(element), int(idx[i])
    return table, seen


def rounded(idx):
    table = torch.zeros(9)
    seen = {}
    for i in range(len(idx)):
        table[i % 9] = i * 0.1
        seen[int(idx[i])] = float(table[i % 9])
    return table, seen


def written_over(idx, values, dtype, shape):
    table = torch.zeros(shape, dtype=dtype)
    seen = {}
    for i in range(len(idx)):
        seen[int(idx[i])] = i
        table[i % 2] = values[i % len(values)]
        table[i % 2] = 1
    return table, seen


def array_written_over(idx, values, dtype, shape):
    table = np.zeros(shape, dtype=dtype)
    seen = {}
    for i in range(len(idx)):
        seen[int(idx[i])] = i
        table[i % 2] = values[i % len(values)]
        table[i % 2] = 1
    return table, seen


GRAPH = (integers(90, high=30), integers(90, high=30).roll(7), 30, 0)
MASK = torch.rand(12, 13, generator=torch.Generator().manual_seed(0)) < 0.6


@pytest.mark.parametrize(
    ("function", "make", "decision"),
    [
        (ranks, lambda: (integers(200),), "lists"),
        (ranks, lambda: (integers(0),), None),
        (ranks, lambda: (integers(50).to(torch.uint8),), None),
        (components, lambda: (MASK,), "lists"),
        (components, lambda: (MASK[:, :0],), None),
        (distances, lambda: GRAPH, "lists"),
        (distances, lambda: (*GRAPH[:2], 20, 0), None),
        (measured, lambda: (integers(100),), "lists"),
        (measured, lambda: (integers(0),), None),
        (counted, lambda: (integers(100), [1, 2, 3], 4), "lists"),
        (counted, lambda: (integers(100), [1, 2.5], 4), None),
        (counted, lambda: (integers(100), [1, True], 4), None),
        (counted, lambda: (integers(100), [2**62], 4), None),
        (counted, lambda: (integers(100), torch.arange(5), 4), None),
        (counted, lambda: (integers(100), [1], 1), None),
        (taken_and_put, lambda: (integers(40), [k % 9 for k in range(60)]), None),
        (taken_and_put, lambda: (integers(40), [k % 9 for k in range(30)]), None),
        (seen_through_another_name, lambda: (integers(40),), None),
        (an_element_that_changes, lambda: (integers(40),), None),
        (rounded, lambda: (integers(40),), None),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_numbers_are_stored_into_lists(function, make, decision):
    lifted = becomes(function, make, decision)
    assert decision is None or "_put_back(" in lifted.source


VALUES = [2], [1.5], [True], [2**70], [1e39], [float("nan")], [float("inf")], [np.int64(3)], [torch.tensor(3)], [None]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("values", VALUES, ids=repr)
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "bool"])
@pytest.mark.parametrize("function", [written_over, array_written_over], ids=lambda f: f.__name__)
def test_what_a_table_does_not_hold_is_the_loops_business(function, values, dtype):
    kind = getattr(torch if function is written_over else np, dtype) if dtype != "bool" else bool
    kind = torch.bool if function is written_over and dtype == "bool" else kind
    lifted = lift(function)
    for one in ([1], values, [1]):
        check(function, lifted, lambda one=one: (integers(30), one, kind, (5,)))


def test_tables_of_other_kinds_are_seen():
    lifted = lift(written_over)
    for kind, shape in ((torch.int64, (5,)), (torch.int64, (5, 2)), (torch.int32, (5,)), (torch.int64, (1,))):
        check(written_over, lifted, lambda kind=kind, shape=shape: (integers(30), [300], kind, shape))


def test_tables_take_no_more_memory_than_is_allowed():
    small, large = lift(ranks, memory=40 * 250), lift(ranks, memory=40 * 100)
    for lifted in (small, large):
        for _ in range(2):
            check(ranks, lifted, lambda: (integers(200),))
    assert [lifted.report().loops[0].decision for lifted in (small, large)] == ["lists", "kept"]


def stored_and_read(idx, out, other):
    seen = {}
    for i in range(len(idx)):
        seen.setdefault(int(idx[i]), []).append(int(other[i % 7]))
        out[i % 7] += 60 // (i - int(other[6]))
    return seen


def left_by_return(idx, out, other):
    seen = {}
    for i in range(len(idx)):
        out[i % 7] = i
        seen[int(idx[i])] = i
        if i == int(other[1]):
            return seen
    return seen


def read_from_a_container(idx, out, held):
    seen = {}
    for i in range(len(idx)):
        seen.setdefault(int(idx[i]), []).append(int(held[0][i % 7]))
        out[i % 7] = i
    return seen


def levels(near, start):
    level = torch.full((len(near),), -1)
    level[start] = 0
    queue = collections.deque([start])
    while queue:
        u = queue.popleft()
        for v in near[u]:
            if level[v] < 0 or level[u] + 1 < level[v]:
                level[v] = level[u] + 1
                queue.append(v)
    return level


def relaxed(source, target, weight, n):
    far = torch.full((n,), float("inf"), dtype=torch.float64)
    far[0] = 0.0
    best, over = float("inf"), {}
    for k in range(3 * len(source)):
        e = k % len(source)
        u, v, w = int(source[e]), int(target[e]), float(weight[e])
        if far[u] + w < far[v]:
            far[v] = far[u] + w
            over.setdefault(v, []).append(u)
        if weight[e] < best:
            best = float(weight[e])
    return far, over, best


def windows(tokens, rows):
    counts = collections.Counter()
    for i in range(len(tokens) - 2):
        counts[tuple(int(one) for one in tokens[i : i + 3])] += 1
        counts[str(tokens[i - 1 : i + 1].tolist())] += 1
        counts[str(rows[i % 3, 1:].tolist() + rows[i % 3][:-1].tolist())] += 1
    return counts.most_common(4)


def buffer(*values):
    return torch.tensor([*values] + [0] * (7 - len(values)))


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (stored_and_read, [lambda: (integers(40), buffer(), buffer(3, 0, 0, 0, 0, 0, -1)),
                           lambda: (integers(40), buffer(), buffer(3, 0, 0, 0, 0, 0, 20)),
                           lambda: (integers(40), *[buffer(0, 0, 0, 0, 0, 0, -1)] * 2),
                           lambda: (integers(40), buffer().numpy(), buffer(5, 0, 0, 0, 0, 0, -2).numpy()),
                           lambda: (integers(40), torch.zeros(1, dtype=torch.int64).expand(7), buffer(-1).flip(0))]),
        (left_by_return, [lambda: (integers(40), buffer(), buffer(0, 50)),
                          lambda: (integers(40), buffer(), buffer(0, 9))]),
        (levels, [lambda: ([integers(3, high=40).tolist(), *[[k, (k * 7) % 40] for k in range(1, 40)]], 0)]),
        (relaxed, [lambda: (*GRAPH[:2], torch.arange(90.0).double(), 30),
                   lambda: (*GRAPH[:2], torch.arange(90.0).double() - 3, 30),
                   lambda: (*GRAPH[:2], torch.full((90,), float("inf")).double(), 30)]),
        (windows, [lambda: (integers(60), integers(3, 5)), lambda: (integers(2), integers(3, 5)),
                   lambda: (integers(60), integers(3, 0)), lambda: (integers(60), integers(2, 5))]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_what_is_given_is_stored_to_as_well(function, calls):
    lifted = lift(function)
    for make in [*calls, calls[0]]:
        check(function, lifted, make)
    assert (
        "lists" in [loop.decision for loop in lift_of(function, calls[0]).report().loops] or function is left_by_return
    )


def lift_of(function, make):
    lifted = lift(function)
    lifted(*make())
    return lifted


def test_a_tensor_in_a_container_may_be_what_is_stored_to():
    lifted = lift(read_from_a_container)
    for shared in (False, True, False):

        def make(shared=shared):
            out = buffer()
            return integers(40), out, [out if shared else out.clone()]

        check(read_from_a_container, lifted, make)
