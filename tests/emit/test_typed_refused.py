"""Programs that no typed program can be are known before the compiler is called."""

import heapq
from bisect import bisect_left

import pytest
import torch

from looplift import lift
from looplift.build import compiler


def collected(x):
    found = [3, 0.5]
    for i in range(x.shape[0]):
        found.append(x[i])
    return found


def put_in_order(x):
    found = [3, 0.5]
    for i in range(x.shape[0]):
        found.append(x[i])
    found.sort()
    return found


def by_keys(x):
    found = [(0.5, 0)]
    for i in range(x.shape[0]):
        found.append((x[i], i))
    return sorted(found, key=lambda one: (one[0], -one[1]))


def queued(x):
    heap, found = [(0.0, -1)], []
    for i in range(x.shape[0]):
        heapq.heappush(heap, (x[i], i))
    while heap:
        found.append(heapq.heappop(heap)[1])
    return found


def in_place(x):
    found = [-9.0]
    for i in range(x.shape[0]):
        found.insert(bisect_left(found, x[i]), x[i])
    return found


def counted(x):
    found, seen = [{0: 1}], 0
    for i in range(x.shape[0]):
        found.append({i: i})
        seen += found.count({0: 1}) + found.index({i: i})
    return seen


def put_among_numbers(x):
    return filled(x, [0.0, 1.0, 2.0])


def filled(x, found):
    order = []
    for i in range(x.shape[0]):
        order.append(i)
        found[i % 3] = found[order.pop()] + x[i] if i < 3 else x[i]
    return found


def rows_over_numbers(x):
    order, found = list(range(len(x))), []
    while order:
        i = order.pop()
        ratio = x[i:] / x[i] if x[i] > 9 else 0
        if ratio <= 1:
            found.append(i)
    return found


def shown(value):
    if isinstance(value, list | tuple):
        return type(value), [shown(one) for one in value]
    return (type(value), value.dtype, value.item()) if isinstance(value, torch.Tensor) else (type(value), value)


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize(
    "function", [collected, put_in_order, by_keys, queued, in_place, counted, put_among_numbers, rows_over_numbers]
)
def test_no_text_is_refused_by_the_compiler(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for size in (7, 0, 1, 2):
        x = torch.linspace(2, -2, size) ** 3
        assert shown(lifted(x)) == shown(function(x))


@pytest.mark.internal
def test_a_text_that_is_refused_is_compiled_once(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path))
    ran, run = [], compiler._run
    monkeypatch.setattr(compiler, "_run", lambda *given: ran.append(given) or run(*given))
    with pytest.raises(compiler.Refused, match="not_there"):
        compiler.library("int one() { return not_there; }")
    assert len(ran) == 1
