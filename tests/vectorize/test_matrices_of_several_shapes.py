"""Lists of matrices that differ in both dimensions, and vectors of another length each that a ``while`` carries."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def squares(pairs):
    out = []
    for m, _ in pairs:
        total = 0.0
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                total += m[i, j].item() ** 2
        out.append(total)
    return out


def corners(pairs):
    out = []
    for m, _ in pairs:
        out.append(m[0, 0].item() + m[-1, -1].item() * m[m.shape[0] - 1, 0].item())
    return out


def turned(pairs):
    out = []
    for m, _ in pairs:
        best = -1e9
        for j in range(m.shape[1]):
            for i in range(m.shape[0]):
                best = max(best, m[i, j].item() * (j - i))
        out.append(best)
    return out


def products(pairs):
    out = []
    for m, v in pairs:
        y = torch.zeros(m.shape[0], dtype=m.dtype)
        for i in range(m.shape[0]):
            for j in range(len(v)):
                y[i] += m[i, j] * v[j]
        out.append(y)
    return out


def filled_by_some(pairs):
    out = []
    for m, v in pairs:
        y = torch.zeros(len(v), dtype=v.dtype)
        for i in range(len(v)):
            for _ in range(m.shape[0] - 2):
                y[i] = v[i] * 2
        out.append(y)
    return out


def shrunk(vectors, tol, limit):
    out, counts = [], []
    for v in vectors:
        x, it = torch.zeros_like(v), 0
        while it < limit:
            new = x * 0.5 + v
            change = (new - x).abs().max().item()
            x = new
            it += 1
            if change < tol:
                break
        out.append(x)
        counts.append(it)
    return out, counts


def relaxed(systems, tol, limit):
    out, counts = [], []
    for m, b in systems:
        n, it = len(b), 0
        x = torch.zeros(n, dtype=b.dtype)
        while it < limit:
            new = torch.zeros(n, dtype=b.dtype)
            for i in range(n):
                s = 0.0
                for j in range(n):
                    if j != i:
                        s += m[i, j].item() * x[j].item()
                new[i] = (b[i].item() - s) / m[i, i].item()
            change = (new - x).abs().max().item()
            x = new
            it += 1
            if change < tol:
                break
        out.append(x)
        counts.append(it)
    return out, counts


SHAPES = [(2, 3), (4, 1), (3, 5), (1, 2)]


def matrices(shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def vectors(sizes, seed=0):
    return matrices([(size,) for size in sizes], seed)


def systems(sizes, seed=0):
    made = []
    for m, b in zip(matrices([(n, n) for n in sizes], seed), vectors(sizes, seed + 1), strict=True):
        made.append((m + torch.diag(m.abs().sum(1) * 1.5), b))
    return made


def pairs(shapes, seed=0):
    """Matrices, each with a vector of as many numbers as it has columns."""
    return list(zip(matrices(shapes, seed), vectors([n for _, n in shapes], seed + 1), strict=True))


@pytest.mark.parametrize("function", [squares, corners, turned, products])
def test_elements_of_matrices(function):
    calls = [[pairs(SHAPES)], [pairs(SHAPES[::-1], 1)], [pairs([(2, 2), (3, 3), (2, 2)], 2)]]
    check(function, *calls, gradients=False)


def test_a_store_in_a_loop_that_some_lanes_never_enter():
    lifted = lift(filled_by_some, backend="torch", verify="off")
    for shapes in (SHAPES, SHAPES[::-1]):
        assert not difference(lifted(pairs(shapes)), filled_by_some(pairs(shapes)), magnitude=1.0, path=str(shapes))


def test_the_gradients_of_matrices_are_the_loops():
    def slopes(function):
        given = [(m.requires_grad_(), v.requires_grad_()) for m, v in pairs(SHAPES)]
        torch.cat(function(given)).sum().backward()
        return [one.grad for pair in given for one in pair]

    assert not difference(slopes(lift(products, backend="torch")), slopes(products), magnitude=1.0, path="gradients")


def test_a_place_outside_of_one_matrix_raises_as_in_the_loop():
    lifted = lift(corners, backend="torch")
    lifted(pairs(SHAPES))
    with pytest.raises(IndexError):
        lifted(pairs([(2, 3), (0, 4), (1, 2)]))
    short, given = lift(products, backend="torch"), pairs(SHAPES)
    short(given)
    given[1] = given[1][0], given[3][1]
    with pytest.raises(IndexError):
        short(given)


def test_vectors_that_a_while_carries():
    calls = [[vectors([3, 1, 4], k), tol, limit] for k, (tol, limit) in enumerate([(1e-6, 100), (1e-3, 5), (1e-3, 0)])]
    check(shrunk, *calls, gradients=False, decisions={"lanes", "sequential"})


def test_systems_of_several_sizes_each_until_it_is_solved():
    calls = [[systems([3, 5, 2, 4], k), 1e-9, 200] for k in range(3)]
    check(relaxed, *calls, [systems([3, 5, 2, 4]), 1e-9, 2], gradients=False, decisions={"lanes", "scan", "sequential"})


def test_the_sums_that_decide_keep_every_bit():
    lifted: Any = lift(relaxed, backend="torch")
    given = systems([7, 12, 9, 4, 11], 3)
    (found, counts), (wanted, expected) = lifted(given, 1e-12, 300), relaxed(given, 1e-12, 300)
    assert counts == expected
    assert all(torch.equal(x, y) for x, y in zip(found, wanted, strict=True))
    assert "cumsum" in lifted.source


def test_a_system_that_cannot_be_solved_raises_as_in_the_loop():
    lifted = lift(relaxed, backend="torch")
    lifted(systems([3, 5, 2, 4]), 1e-9, 200)
    given = systems([3, 5, 2, 4])
    given[2][0][1, 1] = 0.0
    with pytest.raises(ZeroDivisionError):
        lifted(given, 1e-9, 200)
    assert not difference(lifted(given, 1e-9, 0), relaxed(given, 1e-9, 0), magnitude=1.0, path="never run")


def test_lengths_that_agreed_once_may_differ_later():
    lifted = lift(products, backend="torch")
    for shapes in ([(3, 3), (2, 2), (4, 4)], [(3, 2), (2, 4), (4, 1)]) * 2:
        assert not difference(lifted(pairs(shapes)), products(pairs(shapes)), magnitude=1.0, path=str(shapes))


def hundredths(vectors):
    out = []
    for v in vectors:
        y = torch.zeros(len(v), dtype=torch.int8)
        for i in range(len(v)):
            y[i] = int(v[i].item() * 100)
        out.append(y)
    return out


def far_off(vectors):
    out = []
    for v in vectors:
        y = torch.zeros(len(v))
        for i in range(len(v)):
            y[i] = v[i].item() * 1e39
        out.append(y)
    return out


@pytest.mark.parametrize("function", [hundredths, far_off])
def test_a_number_that_does_not_fit_a_row_that_is_filled_raises_as_in_the_loop(function):
    lifted, small = lift(function, backend="torch", verify="off"), [one / 1e3 for one in vectors([3, 1, 4])]
    for _ in range(2):
        assert not difference(lifted(small), function(small), magnitude=1.0, path="small")
        with pytest.raises(RuntimeError, match="without overflow"):
            lifted([small[0], torch.full((2,), 4.0, dtype=torch.float64)])
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
