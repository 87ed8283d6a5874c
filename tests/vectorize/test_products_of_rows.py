"""Rows that are multiplied one after another."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import appended, check

from looplift import lift
from looplift.base.compare import difference

LINEAR = """torch.nn.functional.linear(x[i], a[i], b[i])
torch.nn.functional.linear(x[i], a[i])
torch.nn.functional.linear(x[i], a[i], bias=b[i])
torch.nn.functional.linear(x[i], a[0], b[i])
torch.nn.functional.linear(x[i, 0], a[i], b[0])
torch.nn.functional.linear(x[0], torch.tanh(a[i]), b[i])
torch.stack([torch.nn.functional.linear(x[i, 0], a[j], b[j]) for j in range(len(a))])""".splitlines()


def powers(x, w):
    for _ in range(3):
        x = x * w[0]
    return x


def of_all_rows(x, w):
    product = torch.ones(w.shape[1])
    for t in range(len(w)):
        product = product * w[t]
    return product


def of_differences(x, w):
    out = []
    for i in range(len(w)):
        product = x * 1
        for t in range(len(w)):
            product = product * (w[t] - w[i] + 1)
        out.append(product)
    return torch.stack(out)


def of_rows_before(x, w):
    out = []
    for i in range(len(w)):
        product = x * 1
        for t in range(i):
            product = product * w[t]
        out.append(product)
    return torch.stack(out)


@pytest.mark.parametrize("program", [powers, of_all_rows, of_differences, of_rows_before], ids=lambda p: p.__name__)
def test_rows_are_multiplied_in_lanes(program):
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(5, 4, generator=generator)
    check(program, [torch.randn(4, generator=generator), rows], [torch.ones(4), rows * 2])


@pytest.mark.parametrize("scale", [1e30, 1e-30, 0.0, float("inf")])
def test_products_that_overflow_or_vanish_on_the_way_are_the_loops(scale):
    rows = torch.linspace(0.5, 2.0, 20).reshape(5, 4)
    rows[2] *= scale
    rows[3] /= scale or 1.0
    lifted = lift(of_all_rows, verify="off", backend="torch")
    for _ in range(2):
        assert difference(lifted(None, rows), of_all_rows(None, rows)) is None


def test_products_that_begin_with_what_they_are_added_to():
    def cells(x, w, u, b, h):
        rows = []
        for n in range(h.shape[0]):
            state, row = h[n], []
            for t in range(x.shape[0]):
                state = torch.tanh(w @ x[t] + u @ state + b)
                row.append(state)
            rows.append(torch.stack(row))
        return torch.stack(rows)

    lifted = lift(cells, backend="torch")
    for steps, lanes in ((1, 1), (2, 1), (1, 2), (4, 3)):
        draw = torch.Generator().manual_seed(steps)
        shapes = (steps, 3), (5, 3), (5, 5), (5,), (lanes, 5)
        given = [torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in shapes]
        check(cells, given, decisions={"lanes", "sequential"})
        torch.testing.assert_close(lifted(*given), cells(*given))
    assert "torch.addmm(" in lifted.source


def test_a_product_that_decides_is_added_to_as_in_the_loop():
    def counted(x, u, h):
        steps = 0
        while h.abs().sum() < 9.0 and steps < x.shape[0]:
            h = x[steps] + h @ u
            steps += 1
        return h, steps

    draw = torch.Generator().manual_seed(0)
    given = [torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in ((6, 2, 3), (3, 3), (2, 3))]
    lifted = lift(counted, backend="torch")
    assert all(torch.equal(*pair) for pair in zip(lifted(*given)[:1], counted(*given)[:1], strict=True))
    assert "addmm" not in lifted.source


def test_products_of_as_many_matrices():
    def scores(a, b, v):
        out = torch.zeros(a.shape[0], b.shape[1])
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = torch.dot(v[i], torch.tanh(a[i] @ b[i, j]))
        return out

    for lanes, others in ((1, 1), (1, 2), (2, 1), (3, 4)):
        draw = torch.Generator().manual_seed(lanes)
        shapes = (lanes, 5, 2), (lanes, others, 2), (lanes, 5)
        check(scores, [torch.randn(*shape, generator=draw) for shape in shapes], decisions={"lanes"})
    lifted = lift(scores, backend="torch")
    lifted(*(torch.randn(*shape) for shape in ((3, 5, 2), (3, 4, 2), (3, 5))))
    assert "einsum" not in lifted.source and ".mT" in lifted.source


@pytest.mark.parametrize("expression", LINEAR)
@pytest.mark.parametrize("bias", [4, 1])
def test_linear_maps_of_each_lane_are_products_of_stacks(expression, bias):
    function = appended(expression, "x.shape[0]", {"torch": torch}, join="torch.stack")
    generator, calls = torch.Generator().manual_seed(1), []
    for count in (3, 2, 1):
        shapes = ((count, 2, 3), (count, 4, 3), (count, bias))
        calls.append([torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes])
    check(function, *calls)
    lifted = lift(function, backend="torch", verify="off")
    lifted(*calls[0])
    assert "vmap" not in lifted.source


def test_linear_map_of_each_lane_raises_what_the_loop_raises():
    def maps(x, a, b):
        return torch.stack([torch.nn.functional.linear(x[i], a[i], b[i]) for i in range(len(x))])

    for shapes in (((3, 2, 3), (3, 1, 3), (3, 4)), ((3, 2, 3), (3, 4, 2), (3, 4)), ((3, 2, 3), (3, 4, 3), (3, 5))):
        given = [torch.randn(*shape) for shape in shapes]
        with pytest.raises(RuntimeError) as wanted:
            maps(*given)
        with pytest.raises(RuntimeError) as raised:
            lift(maps, verify="off")(*given)
        assert str(raised.value) == str(wanted.value)


def test_a_matrix_of_each_row_by_one_vector_is_added_to_something_shorter():
    def shifted(x, w, b):
        out = []
        for i in range(x.shape[0]):
            out.append(x[i] @ w + b)
        return torch.stack(out)

    draw = torch.Generator().manual_seed(0)
    for length in (1, 4):
        given = [torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in ((3, 4, 2), (2,), (length,))]
        check(shifted, given, decisions={"lanes"})
