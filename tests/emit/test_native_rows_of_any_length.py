"""Kernels with softmax of rows whose length the data tells, extremes along several axes, and subscripts with None."""

import copy
import math

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def softmax_of_prefixes(x, lengths, n):
    out = torch.zeros_like(x)
    while n > 0:
        n -= 1
        k = lengths[n].item()
        out[n, :k] = torch.softmax(x[n, :k], dim=0) + torch.log_softmax(x[n, :k] * 2, -1)
    return out


def softmax_of_columns(x, lengths, n):
    out = torch.zeros_like(x)
    while n > 0:
        n -= 1
        k = lengths[n].item()
        out[:, :k] = x[:, :k].softmax(0) + (x[:, :k] + n).log_softmax(dim=1)
    return out


def logarithms(x, lengths, n):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    while n > 0:
        n -= 1
        k = lengths[n].item()
        out[n] = torch.logsumexp(x[n, :k], dim=0)
        out += x[:, :k].logsumexp(1)
    return out


def greatest_in_boxes(x, boxes, n):
    out = torch.zeros(n, x.shape[0], dtype=x.dtype)
    low = torch.zeros(n, x.shape[0], 1, 1, dtype=x.dtype)
    while n > 0:
        n -= 1
        x0, y0, x1, y1 = boxes[n].tolist()
        out[n] = x[:, y0:y1, x0:x1].amax(dim=(1, 2)) - x[:, y0:y1, x0:x1].sum((2, -2))
        low[n] = torch.amin(x[:, y0:y1, x0:x1], dim=(-1, 1), keepdim=True)
    return out, low


def added_to_boxes(scores, boxes, n):
    heat = torch.zeros(scores.shape[1], 9, 8, dtype=scores.dtype)
    while n > 0:
        n -= 1
        x0, y0, x1, y1 = boxes[n].tolist()
        heat[:, y0:y1, x0:x1] += scores[n][:, None, None]
        heat[0, y0:y1, x0:x1] = scores[n, None, 1, None] * scores[None, n, 0]
        heat[..., 2:4, 1] = heat[..., 2:4, 1] + scores[n, ..., None]
    return heat


def boxes(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    low = torch.randint(0, 4, (count, 2), generator=generator)
    return torch.cat([low, low + torch.randint(1, 5, (count, 2), generator=generator)], 1)


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def is_native(function, *arguments):
    lifted = lift(function, backend="native")
    for _ in range(2):
        ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        want = function(*theirs)
        assert difference(lifted(*ours), want) is None
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


DTYPES = [torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [softmax_of_prefixes, softmax_of_columns, logarithms])
def test_rows_of_any_length(function, dtype):
    is_native(function, numbers(6, 40, dtype=dtype), torch.tensor([1, 40, 17, 3, 8, 33]), 6)


@pytest.mark.parametrize("function", [softmax_of_prefixes, softmax_of_columns, logarithms])
def test_numbers_that_are_not_finite(function):
    x = numbers(6, 20)
    x[0, 1], x[1, 3], x[2, :], x[3, 0] = math.nan, math.inf, -math.inf, -math.inf
    x[4, :] = 1000.0
    is_native(function, x, torch.tensor([5, 20, 17, 3, 8, 1]), 6)


@pytest.mark.parametrize("function", [softmax_of_prefixes, softmax_of_columns])
def test_rows_without_elements(function):
    is_native(function, numbers(3, 5), torch.tensor([0, 5, 0]), 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_along_several_axes(dtype):
    is_native(greatest_in_boxes, numbers(3, 9, 8, dtype=dtype), boxes(5), 5)


def test_an_extreme_of_none_raises():
    lifted, x, empty = lift(greatest_in_boxes, backend="native"), numbers(3, 9, 8), torch.tensor([[1, 1, 1, 3]])
    lifted(x, boxes(1), 1)
    with pytest.raises(IndexError) as ours:
        lifted(x, empty, 1)
    with pytest.raises(IndexError) as theirs:
        greatest_in_boxes(x, empty, 1)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_new_axes(dtype):
    is_native(added_to_boxes, numbers(5, 3, dtype=dtype), boxes(5), 5)


def test_a_value_of_another_shape_raises():
    def added(heat, rows, n):
        while n > 0:
            n -= 1
            heat[:, n : n + 2] += rows[n][:, None]
        return heat

    lifted = lift(added, backend="native")
    assert torch.equal(lifted(torch.zeros(3, 4), numbers(2, 3), 2), added(torch.zeros(3, 4), numbers(2, 3), 2))
    with pytest.raises(RuntimeError):
        lifted(torch.zeros(3, 4), numbers(2, 4), 2)


def stored_into(x, n):
    while n > 0:
        n -= 1
        wide = x[:, None]
        wide[n, 0] = x[n] * 2
    return x


def changed_in_place(x, n):
    while n > 0:
        n -= 1
        wide = x[:, None]
        wide *= 2
    return x


def read_later(x, n):
    total = torch.zeros(x.shape[0], 1)
    while n > 0:
        n -= 1
        wide = x[:, None]
        x[n] = 3.0
        total = total + wide
    return total


def handed_out(x, n):
    wide = x
    while n > 0:
        n -= 1
        wide = x[:, None]
    return wide


@pytest.mark.parametrize("function", [stored_into, changed_in_place, read_later, handed_out])
def test_a_view_with_new_axes_shows_what_is_stored(function):
    lifted, x, y = lift(function, backend="native"), numbers(5), numbers(5)
    for _ in range(3):
        ours, theirs = lifted(x, 4), function(y, 4)
        assert difference(ours, theirs) is None and torch.equal(x, y)
        assert (ours.data_ptr() == x.data_ptr()) == (theirs.data_ptr() == y.data_ptr())
