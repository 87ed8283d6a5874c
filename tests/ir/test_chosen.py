"""Items of arrays that loops choose, handed out as the views that they are in the loop."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def greatest(x):
    best = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > best:
            best = x[i]
    return best


def greatest_of_rows(x):
    best, row, column = x[0, 0], 0, 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > best:
                best, row, column = x[i, j], i, j
    return best, row, column


def longest_row(x):
    best = x[0]
    for row in x:
        if row.sum() > best.sum():
            best = row
    return best


def ends(x):
    low = high = x[0]
    for i in range(x.shape[0]):
        if x[i] < low:
            low = x[i]
        elif x[i] > high:
            high = x[i]
    return low, high


def last_positive(x):
    last = None
    for v in x:
        if v > 0:
            last = v
    return last


def first_above(x):
    value, at = -1.0, -1
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            value, at = x[i], i
            break
    return value, at


def returned(x):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            return x[i]
    return None


def by_python(x):
    best = x[0]
    for i in range(1, x.shape[0]):
        best = max(best, x[i])
    return best


def from_a_number(x):
    best = torch.tensor(float("-inf"), dtype=x.dtype)
    for i in range(x.shape[0]):
        if x[i] > best:
            best = x[i]
    return best


def by_a_while(x):
    best, i = x[0], 1
    while i < x.shape[0]:
        if x[i] < best:
            best = x[i]
        i += 1
    return best


def beside_the_first(x):
    first = best = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > best:
            best = x[i]
    return best, first


def parts(value):
    return list(value) if isinstance(value, tuple) else [value]


def layout(value, x):
    """Where a result begins in the memory of an argument, if it is a view of it."""
    if not isinstance(value, torch.Tensor):
        return value
    apart = value.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    return None if apart else value.storage_offset()


PROGRAMS = [
    greatest, greatest_of_rows, longest_row, ends, last_positive, first_above, returned, by_python, from_a_number,
    by_a_while, beside_the_first,
]  # fmt: skip


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_what_a_loop_chooses_is_a_view_of_the_argument(program, asks):
    lifted = lift(program, verify="off")
    deep = program in (greatest_of_rows, longest_row)
    for seed, length in enumerate((6, 6, 4, 1, 2)):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(length, 3, generator=generator) if deep else torch.randn(length, generator=generator)
        x = (x - seed % 2).requires_grad_(asks) * 1.0
        mine, theirs = parts(lifted(x)), parts(program(x))
        assert [layout(v, x) for v in mine] == [layout(v, x) for v in theirs]
        assert [a is b for a in mine for b in mine] == [a is b for a in theirs for b in theirs]
        for a, b in zip(mine, theirs, strict=True):
            assert type(a) is type(b)
            if isinstance(a, torch.Tensor):
                assert a.requires_grad == b.requires_grad
                assert torch.equal(a, b)
                if asks and b.requires_grad:
                    ours, wanted = (torch.autograd.grad(v.sum() * 2, x, retain_graph=True)[0] for v in (a, b))
                    assert torch.equal(ours, wanted)
    if program is not beside_the_first:
        assert lifted.report().loops[0].decision != "kept"


def test_it_is_changed_through_the_view():
    lifted = lift(greatest, verify="off")
    mine, theirs = torch.tensor([1.0, 5.0, 2.0]), torch.tensor([1.0, 5.0, 2.0])
    lifted(mine).add_(1)
    greatest(theirs).add_(1)
    assert torch.equal(mine, theirs)


def test_a_name_that_is_never_bound_raises_as_in_the_loop():
    def bound_at_times(x):
        for i in range(x.shape[0]):
            if x[i] > 0:
                found = x[i]
        return found

    lifted = lift(bound_at_times, verify="off")
    assert lifted(torch.tensor([-1.0, 2.0])) == 2
    with pytest.raises(UnboundLocalError):
        lifted(torch.tensor([-1.0, -2.0]))
