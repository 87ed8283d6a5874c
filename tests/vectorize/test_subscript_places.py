"""Which places two subscripts name: the same ones in one iteration alone, or never the same ones."""

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def agrees(program, *arguments, backends=("torch", "auto")):
    """The loop and its lifted form, with tensors and with NumPy's arrays."""
    for backend in backends:
        for kind in (torch.clone, lambda value: value.numpy().copy()):
            lifted = lift(program, verify="off", backend=backend)
            for _ in range(2):
                given, taken = ([kind(a) if isinstance(a, torch.Tensor) else a for a in arguments] for _ in range(2))
                assert difference((lifted(*given), given), (program(*taken), taken)) is None


def rows_and_columns(x, v, n):
    for i in range(n):
        j = i + 1
        x[j, i] = v[i]
        x[j, 0] = v[i] * 2
        x[2, i] = v[i] * 3
    return x


def test_any_two_of_several_stores_must_be_in_one_iteration_alone():
    agrees(rows_and_columns, normal(7, 7), normal(6), 5)


def behind_an_ellipsis(x, y, z):
    for i in range(len(y)):
        x[..., i, 0] = y[i]
        z[i] = x[..., i]
    return z


def behind_a_new_dimension(x, y, z):
    for i in range(len(y)):
        x[0, i] = y[i]
        z[i] = x[None, i][0]
    return z


@pytest.mark.parametrize("program", [behind_an_ellipsis, behind_a_new_dimension], ids=lambda p: p.__name__)
def test_subscripts_are_compared_dimension_by_dimension(program):
    agrees(program, normal(5, 5), normal(5), normal(5, 5))


def row_of_an_inner_loop(x, v, y):
    for i in range(v.shape[0]):
        for j in range(1, v.shape[1]):
            x[j] = v[i, j]
            y[i, j] = x[j - 1]
    return y


def place_before(x, v, y):
    for i in range(v.shape[0]):
        for j in range(1, v.shape[1]):
            for k in range(3):
                y[i, j] = x[j - 1, k] * 2
                x[j, k + 1] = v[i, j] + k
    return y


def sum_of_indices(x, v, y):
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            k = i + j
            x[k] = x[k] * 2 + v[i, j]
    return y


def sum_beside_an_index(x, v, y):
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            k = i + j
            x[k, j] = x[k, j] * 2 + v[i, j]
    return y


@pytest.mark.parametrize(
    ("program", "rank"),
    [(row_of_an_inner_loop, 1), (place_before, 2), (sum_of_indices, 1), (sum_beside_an_index, 2)],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_loops_inside_may_lead_other_iterations_to_a_place(program, rank):
    agrees(program, normal(*(9,) * rank), normal(4, 5), normal(4, 5))


def test_a_sum_of_indices_beside_one_of_them_is_a_place_of_one_iteration():
    lifted = lift(sum_beside_an_index, verify="off", backend="torch")
    lifted(normal(9, 9), normal(4, 5), normal(4, 5))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "lanes"]
    assert "places_apart" not in lifted.source


def moved_by_what_is_written(x, p, v):
    for i in range(v.shape[0]):
        p[0] = p[0] * 3 % 7
        k = int(p[0])
        j = i - k
        x[j] = v[i]
        v[i] = x[j] + x[j]
    return v


def moved_in_steps(x, p, v):
    for i in range(v.shape[0]):
        h = v[i]
        for t in range(4):
            p[i] = p[i] * 3 % 7
            j = t + int(p[i])
            h = h * h * 0.1 + j
            x[j] = h
    return x


@pytest.mark.parametrize("program", [moved_by_what_is_written, moved_in_steps], ids=lambda p: p.__name__)
def test_an_integer_read_from_what_the_loop_writes_to_differs_by_iteration(program):
    agrees(program, normal(20), torch.tensor([3, 2, 4, 1, 2]), normal(5))


def from_both_ends(x, v, m):
    for i in range(len(v)):
        k = i - 3
        x[k] = x[k] * 2 + v[i]
    return x


def from_both_ends_under_an_if(x, v, m):
    for i in range(len(v)):
        if v[i] > 0:
            k = i - m
            x[k] = x[k] * 2 + v[i]
            x[k] = x[k] * x[k]
    return x


@pytest.mark.parametrize("program", [from_both_ends, from_both_ends_under_an_if], ids=lambda p: p.__name__)
@pytest.mark.parametrize("extent", [3, 4, 6, 7])
def test_one_place_counted_from_both_ends_is_changed_twice(program, extent):
    agrees(program, normal(extent), normal(6).abs() - 0.1, 3)


def test_places_counted_from_the_end_by_some_iterations_are_in_lanes():
    lifted = lift(from_both_ends, verify="off", backend="torch")
    lifted(normal(6), normal(6), 3)
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_numbers_of_numpy_are_places_too():
    agrees(moved_by_what_is_written, normal(20), torch.from_numpy(np.array([3])), normal(5))
