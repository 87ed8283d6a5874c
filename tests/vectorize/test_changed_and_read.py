"""Totals that are changed in place and read after that in the same iteration, and who else may show the change."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def averaged(x):
    total, out = 0.0, torch.zeros(len(x))
    for i in range(len(x)):
        total += x[i]
        out[i] = total / 3
    return out


def read_before_and_after(x):
    total, out = torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = total * 2
        total += x[i]
        out[i] += total
    return out


def on_two_sides(x):
    total, out = 0.0, torch.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            total += x[i]
        else:
            total -= x[i] * 0.5
        out[i] = total
    return out


def in_rows(x):
    out = torch.zeros(3, len(x))
    for i in range(3):
        row = 0.0
        for j in range(len(x)):
            row += x[j] * i
            out[i, j] = row + 1
        row += 1
        out[i, 0] -= row
    return out


def in_two_loops(x):
    energy = 0.0
    for i in range(len(x)):
        energy += x[i]
        for j in range(i + 1, len(x)):
            energy -= x[i] * x[j]
    return energy


def several_times(x):
    level, out = 0.0, torch.zeros(len(x))
    for i in range(len(x)):
        level *= 0.9
        level += x[i]
        out[i] = level
        level -= 0.1
        out[i] -= level / 2
    return out


def of_rows(x):
    total, out = torch.zeros(2), torch.zeros(len(x), 2)
    for i in range(len(x)):
        total += x[i]
        out[i] = total / (i + 1)
    return out


def by_methods(x):
    total, out = torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        total.add_(x[i])
        out[i] = total / 2
        total.mul_(0.5)
    return out


def the_one_before(x):
    total, before, out = torch.zeros(()), torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = before + 0
        total += x[i]
        before = total
    return out


def remembered(x):
    total, out = 0.0, torch.zeros(len(x))
    for i in range(len(x)):
        total += x[i]
        out[i] = total * total
    return out


def remembered_result(x):
    total, out = 0.0, torch.zeros(len(x))
    for i in range(len(x)):
        total += x[i] * x[i]
        out[i] = torch.sqrt(total)
    return out


def another_name(x):
    total, before, out = torch.zeros(()), torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        before = total
        total += x[i]
        out[i] = before + total
    return out


def changed_by_another_name(x):
    total, other = 0.0, 0.0
    for i in range(len(x)):
        total += x[i]
        other = total
        other += 1.0
    return total, other


def shown_later(x):
    total, before, out = torch.zeros(()), torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        total += x[i]
        out[i] = before + 0
        before = total
    return out


def swapped(x):
    one, other, out = torch.zeros(()), torch.ones(()), torch.zeros(len(x))
    for i in range(len(x)):
        one, other = other, one
        one += x[i]
        out[i] = one - other
    return out


def put_into_a_list(x):
    total, kept = 0.0, []
    for i in range(len(x)):
        total += x[i]
        kept.append(total)
    return torch.stack(kept)


def put_into_a_list_and_changed(x):
    total, kept = torch.zeros(()), []
    for i in range(len(x)):
        total += x[i]
        total = total * 1.0
        kept.append(total)
    return torch.stack(kept)


def the_greatest(x):
    total, best = torch.zeros(()), torch.zeros(())
    for i in range(len(x)):
        total += x[i] - 0.5
        best = max(best, total)
    return best


def kept_at_times(x):
    total, best, out = torch.zeros(()), torch.zeros(()), torch.zeros(len(x))
    for i in range(len(x)):
        total += x[i]
        if total > 1.0:
            best = total
        out[i] = best + 0
    return out


def remembered_after_two_loops(x):
    out = []
    for i in range(len(x)):
        total = x[i].clone()
        for j in range(len(x)):
            total += x[j] * x[i] * 0.1
            for k in range(j):
                total += x[k] * 0.01
        out.append(torch.sin(total) * total)
    return torch.stack(out)


def remembered_between_two_loops(x):
    out = []
    for i in range(len(x)):
        total = x[i].clone()
        for j in range(len(x)):
            total += x[j] * x[i]
        middle = torch.sin(total)
        for k in range(i):
            total += x[k]
        out.append(middle + total)
    return torch.stack(out)


def a_result_that_backward_needs(x):
    out = []
    for i in range(len(x)):
        value = torch.exp(x[i] + 1)
        value += x[i]
        out.append(value)
    return torch.stack(out)


def times_itself(x):
    out = []
    for i in range(len(x)):
        value = x[i] + 1
        value *= value
        out.append(value)
    return torch.stack(out)


def multiplied_into_an_array(x):
    out = torch.ones(len(x))
    for i in range(len(x)):
        value = x[i] * 2
        out[i] *= value
        value += 1
    return out


def greatest_of_a_row(x):
    out = []
    for i in range(len(x)):
        value = (x * x[i]).max()
        value += x[i]
        out.append(value)
    return torch.stack(out)


def handed_to_the_next(x):
    before, total = x[0].clone(), torch.zeros(())
    for i in range(len(x)):
        now = x[i] * 2
        total = total + torch.sin(now)
        before += x[i]
        before = now
    return total + before


FUNCTIONS = (
    averaged, read_before_and_after, on_two_sides, in_rows, in_two_loops, several_times, of_rows, by_methods,
    the_one_before, remembered, remembered_result, another_name, changed_by_another_name, shown_later, swapped,
    put_into_a_list, put_into_a_list_and_changed, the_greatest, kept_at_times, remembered_after_two_loops,
    remembered_between_two_loops, a_result_that_backward_needs, handed_to_the_next,
    times_itself, multiplied_into_an_array, greatest_of_a_row,
)  # fmt: skip


def outcome(function, x):
    """The results as numbers, whether they ask for gradients, and the gradient or what the backward pass raises."""
    found = function(x)
    found = found if isinstance(found, tuple) else (found,)
    results = [(one.tolist(), one.requires_grad) for one in found]
    if not found[0].requires_grad:
        return results, None
    try:
        (gradient,) = torch.autograd.grad(found[0].sum(), x)
    except RuntimeError:
        return results, "raises"
    return results, gradient.tolist()


@pytest.mark.parametrize("gradients", (False, True))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_the_loop(function, gradients):
    torch.manual_seed(0)
    lifted = lift(function, verify="off")
    for length in (1, 2, 8):
        x = torch.rand(length, requires_grad=gradients) if function is not of_rows else torch.rand(length, 2)
        (found, mine), (expected, theirs) = outcome(lifted, x), outcome(function, x)
        assert [wants for _, wants in found] == [wants for _, wants in expected]
        for (one, _), (other, _) in zip(found, expected, strict=True):
            torch.testing.assert_close(torch.tensor(one), torch.tensor(other))
        assert type(mine) is type(theirs)
        if isinstance(theirs, list):
            torch.testing.assert_close(torch.tensor(mine), torch.tensor(theirs))
        else:
            assert mine == theirs


@pytest.mark.parametrize(
    "function", (averaged, on_two_sides, in_rows, in_two_loops, several_times, remembered_after_two_loops)
)
def test_gradients_need_no_loop(function):
    lifted = lift(function, verify="off")
    lifted(torch.rand(8, requires_grad=True))
    assert "kept" not in {loop.decision for loop in lifted.report().loops}
