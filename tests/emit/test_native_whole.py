"""Whole regions as kernels: arrays and lists that the loop makes, changes, swaps and hands out."""

import copy
from typing import Any

import numpy as np
import pytest
import row_programs
import torch
import whole_programs

from looplift import lift
from looplift.base.compare import difference


def outcome(function, arguments):
    """The result or the exception's type, and what became of the arguments."""
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), arguments


@pytest.mark.parametrize(
    ("programs", "name"),
    [(programs, name) for programs in (whole_programs, row_programs) for name in programs.PROGRAMS],
)
def test_the_kernel_does_what_the_loop_does(programs, name):
    function = getattr(programs, name)
    lifted = lift(function, backend="native", verify="off")
    for size in (5, 2, 1, 0, 7):
        arguments = programs.arguments(name, size)
        found, wanted = outcome(lifted, arguments), outcome(function, arguments)
        assert difference(found, wanted) is None, size
        if size == 5:
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_lists_of_numpy_numbers_keep_what_they_hold():
    def started(x):
        values = [x[0]]
        for k in range(1, len(x)):
            values.append(1.0 if x[k] > 1 else x[k])
        return values

    def integers(x):
        values = [x[0]]
        for k in range(1, len(x)):
            values.append(values[-1] + x[k])
        return values

    for function, x in ((started, np.array([0.5, 2.0])), (integers, np.arange(4)), (integers, np.array([]))):
        found, wanted = outcome(lift(function, backend="native", verify="off"), (x,)), outcome(function, (x,))
        assert difference(found, wanted) is None
        if isinstance(wanted[0], list):
            assert list(map(type, found[0])) == list(map(type, wanted[0]))


def test_lists_of_one_length_at_first_and_of_several_later():
    def total(rows):
        found = 0
        for i in range(len(rows)):
            for value in rows[i]:
                found += value
        return found

    lifted = lift(total, backend="native", verify="off")
    for _ in range(5):
        assert lifted([[1, 2], [3, 4]]) == 10
        assert lifted([[1, 2, 3], [], [4]]) == 10
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    assert lifted([[1, 2, 3], [], (4,)]) == 10
    assert lifted([[1, 2], [0.5]]) == 3.5
    assert lifted([[1, 2], [2**63]]) == 3 + 2**63


def test_rows_of_several_lengths_are_only_read():
    def marked(rows, k):
        for i in range(len(rows)):
            rows[i][k] = rows[0][k] + i
        return rows

    lifted = lift(marked, backend="native")
    assert lifted([[1, 2], [3]], 0) == [[1, 2], [2]]


def test_lists_that_share_rows_are_left_to_the_loop():
    def marked(rows, k):
        for i in range(len(rows)):
            rows[i][k] = rows[0][k] + i
        return rows

    lifted = lift(marked, backend="native", verify="off")
    assert lifted([[1, 2], [3, 4]], 1) == marked([[1, 2], [3, 4]], 1)
    row = [1, 2]
    assert lifted([row, row], 1) == marked([[1, 2]] * 2, 1)


def test_a_list_given_twice_is_one_list():
    def added(a, b):
        for i in range(1, len(a)):
            a[i] += b[i - 1]
        return a

    lifted = lift(added, backend="native", verify="off")
    assert lifted([1, 2, 3], [4, 5, 6]) == [1, 6, 8]
    same = [1, 2, 3]
    assert lifted(same, same) == [1, 3, 6]
    assert same == [1, 3, 6]


@pytest.mark.parametrize("values", [[1, 2**70, 3], [1, 2.0, 3], [1, True, 3], [2**62, 2**62, 1]])
def test_numbers_of_other_kinds_or_beyond_64_bits_are_left_to_the_loop(values):
    def sums(values):
        for i in range(1, len(values)):
            values[i] = values[i] + values[i - 1]
        return values

    lifted = lift(sums, backend="native", verify="off")
    assert lifted([1, 2, 3]) == [1, 3, 6]
    wanted = sums(list(values))
    found = lifted(list(values))
    assert found == wanted
    assert list(map(type, found)) == list(map(type, wanted))


def test_an_index_error_leaves_the_list_as_the_loop_does():
    def moved(values, n):
        for i in range(n):
            values[i + 1] = values[i]
        return values

    lifted = lift(moved, backend="native", verify="off")
    assert lifted([1, 2, 3], 2) == [1, 1, 1]
    values = [5, 6, 7]
    with pytest.raises(IndexError):
        lifted(values, 3)
    assert values == [5, 5, 5]


def test_an_array_comes_back_as_itself_where_nothing_replaced_it():
    def smoothed(u, steps):
        for _ in range(steps):
            new = u.copy()
            for i in range(1, u.shape[0]):
                new[i] = 0.5 * (u[i] + u[i - 1])
            u = new
        return u

    lifted = lift(smoothed, backend="native", verify="off")
    u = np.arange(5.0)
    assert np.array_equal(lifted(u, 2), smoothed(u, 2))
    assert lifted(u, 0) is u
    assert np.array_equal(u, np.arange(5.0))


def test_rows_that_overlap_are_read_before_they_are_written():
    def pushed(x):
        for i in range(x.shape[0]):
            x[i, 1:] = x[i, :-1]
        return x

    x = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(lift(pushed, backend="native")(x.copy()), pushed(x.copy()))


def test_a_function_of_tensors_is_not_given_numbers():
    def smallest(x):
        best = x[0] * 1
        for i in range(len(x)):
            best = torch.minimum(x[i].item(), best)
        return best

    lifted = lift(smallest, backend="native", verify="off")
    with pytest.raises(TypeError):
        lifted(torch.ones(3))


def test_an_array_without_a_dimension_stays_one():
    def untouched(total, n):
        for _ in range(n):
            pass
        return (total,)

    lifted = lift(untouched, backend="native", verify="off")
    assert isinstance(lifted(np.zeros(()), 3)[0], np.ndarray)


def test_auto_takes_kernels_for_lists_of_numbers():
    lifted: Any = lift(whole_programs.edit_distance, verify="off")
    assert lifted([1, 2, 3, 4], [2, 3, 3]) == whole_programs.edit_distance([1, 2, 3, 4], [2, 3, 3])
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def handed_on(x, scale):
    best = x[0] * 2
    for i in range(len(x)):
        if x[i] > 0:
            best = scale
    return best


def floors(x):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(2):
            out[i] = torch.floor(x[i]) + j
    return out


def test_an_argument_that_is_handed_on_is_itself():
    scale = torch.tensor(2.0)
    lifted = lift(handed_on, verify="off")
    assert lifted(torch.ones(3), scale) is scale
    assert lifted(-torch.ones(3), scale) is not scale


def test_rounding_has_a_gradient_of_zeros():
    for backend in ("auto", "native", "torch"):
        x = torch.tensor([0.5, -1.5], requires_grad=True)
        floors_lifted = lift(floors, verify="off", backend=backend)
        floors_lifted(x).sum().backward()
        assert torch.equal(x.grad if x.grad is not None else torch.ones(2), torch.zeros(2))
