"""Tuples as state: names that are None, or another tuple, before a loop that binds them to tuples."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def place_of_the_greatest(x):
    best, at = x[0, 0], (0, 0)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > best:
                best, at = x[i, j], (i, j)
    return best, at


def place_above(x):
    at = None
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                at = (i, j)
    return at


def closest(x):
    best, pair = float("inf"), None
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            gap = abs(x[i, 0] - x[j, 0]).item()
            if gap < best:
                best, pair = gap, (i, j)
    return best, pair


def returned(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if abs(x[i, j]) < 0.1:
                return i, j
    return None


def forgotten(x):
    at, count = None, 0
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            if at is not None:
                count += i - at[0]
            at = (i, 2 * i)
        elif x[i, 0] < -1:
            at = None
        if at:
            count += 1
    return at, count


def taken_apart(x):
    at = None
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            at = (i, i + 1)
    a, b = at
    return a + b


def best_of_each_row(x):
    out = torch.zeros(x.shape[0], dtype=torch.long)
    for i in range(x.shape[0]):
        best = None
        for j in range(x.shape[1]):
            if x[i, j] > 0 and (best is None or x[i, j] < best[0]):
                best = (x[i, j].item(), j)
        out[i] = -1 if best is None else best[1]
    return out


def two_names(x):
    first = last = None
    for i in range(x.shape[0]):
        if x[i, 0] > 0:
            last = (i, x[i, 0].item())
            if first is None:
                first = last
    return first, last


def before(x):
    at = earlier = None
    for i in range(x.shape[0]):
        earlier = at
        if x[i, 0] > 0:
            at = (i, 1)
    return at, earlier


def length(x):
    at = None
    for i in range(x.shape[0]):
        if x[i, 0] > 1:
            at = (i, i + 2)
    return len(at)


def outcome(function, x):
    try:
        return repr(function(x))
    except Exception as error:
        return type(error), str(error)


PROGRAMS = [
    place_of_the_greatest, place_above, closest, returned, forgotten, taken_apart, best_of_each_row, two_names, before,
    length,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["tensor", "array"])
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_tuples_or_none_are_those_of_the_loop(program, backend, kind):
    lifted = lift(program, verify="off", backend=backend)
    for seed, length in enumerate((6, 9, 9, 3, 1, 0, 6)):
        if backend == "auto" and seed == 3:
            assert "kept" not in {loop.decision for loop in lifted.report().loops}
        x = torch.randn(length, max(length, 1), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        x = x - 2 * (seed == 3)
        given = x if kind == "tensor" else x.numpy()
        assert outcome(lifted, given) == outcome(program, given)


def test_a_place_that_is_forgotten_beside_gradients():
    def doubled(x):
        at, out = None, torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = x[i] * 2
            if x[i] > 0:
                at = (i, 3)
            elif i % 4 == 3:
                at = None
        return out, at

    lifted = lift(doubled, verify="off")
    for length in (9, 4, 8, 1):
        x = torch.randn(length, generator=torch.Generator().manual_seed(length), requires_grad=True)
        (out, at), (wanted, place) = lifted(x), doubled(x)
        assert at == place and torch.equal(out, wanted)
        assert torch.equal(torch.autograd.grad(out.sum(), x)[0], torch.autograd.grad(wanted.sum(), x)[0])
    assert lifted.report().loops[0].decision != "kept"


def test_swapped_numbers_are_a_scan():
    def swapped(x):
        p, q = 0, 1
        for i in range(x.shape[0]):
            if x[i] > 0:
                p, q = i, p
        return p, q

    lifted = lift(swapped, verify="off", backend="torch")
    for length in (5, 0, 1, 8):
        x = torch.randn(length)
        assert lifted(x) == swapped(x)
    assert [loop.decision for loop in lifted.report().loops] == ["scan"]


FIRST = ["float('inf')", "-float('-inf')", "float('Inf')", "1e9", "1e30", "torch.inf"]


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_least_distance_begins_with_a_number(first, dtype, tmp_path):
    text = f"""
import torch

def nearest(x):
    best = {first}
    at = None
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            gap = torch.norm(x[i] - x[j])
            if gap < best:
                best, at = gap, (i, j)
    return best, at
"""
    path = tmp_path / "nearest.py"
    path.write_text(text)
    scope = {}
    exec(compile(text, str(path), "exec"), scope)
    nearest = scope["nearest"]
    lifted = lift(nearest, verify="off")
    for length in (6, 9, 1, 0, 2, 7):
        x = torch.randn(length, 3, generator=torch.Generator().manual_seed(length)).to(dtype)
        (best, at), (least, place) = lifted(x), nearest(x)
        assert type(best) is type(least) and at == place
        torch.testing.assert_close(best, least)
        if length == 9:
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def most(counts):
    best, seen = None, set()
    for name, count in counts.items():
        name = (count, name)
        if best is None or name > best:
            best = name
        seen.add(frozenset([name[1]]))
    return best, len(seen)


def above(counts):
    best = None
    for name, count in counts.items():
        if best is None or count > 2:
            best = (count, name)
    return best


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [most, above])
def test_tuples_of_names_end_the_translation(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for counts in ({"a": 1, "b": 3, "c": 2}, {}, {"z": 0}, {"b": 5, "a": 5}):
        assert lifted(counts) == function(counts)
