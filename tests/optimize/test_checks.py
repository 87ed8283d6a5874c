"""What was checked once is not checked again, where it is the same value and was surely checked."""

import pytest
import torch

from looplift import lift


def steps(table, places, x, n):
    for _ in range(n):
        total = torch.zeros(len(places))
        for i in range(len(places)):
            k = places[i].item()
            if x[i] > 0:
                total[i] = table[k // 2] + table[k // 2] * x[i]
        x = total
    return x


def halves(numbers, divisors):
    out = torch.zeros(len(numbers))
    for i in range(len(numbers)):
        out[i] = numbers[i].item() // divisors[i].item() + numbers[i].item() % divisors[i].item()
    return out


def test_a_division_by_zero_is_raised_as_the_loop_does():
    lifted = lift(halves, verify="off", backend="torch")
    numbers, divisors = torch.tensor([5, -7, 9]), torch.tensor([2, 3, -4])
    for _ in range(2):
        assert torch.equal(lifted(numbers, divisors), halves(numbers, divisors))
    with pytest.raises(ZeroDivisionError):
        lifted(numbers, torch.tensor([2, 0, 1]))


def test_conditions_are_checked_once():
    lifted = lift(halves, verify="off", backend="torch")
    lifted(torch.tensor([5, -7, 9]), torch.tensor([2, 3, -4]))
    conditions = [line.strip() for line in lifted.source.splitlines() if line.strip().startswith("if not ")]
    assert conditions
    assert len(set(conditions)) == len(conditions)


def test_places_that_are_out_of_range_are_raised_in_any_step():
    lifted = lift(steps, verify="off", backend="torch")
    table, x = torch.randn(4), torch.rand(3)
    for places in (torch.tensor([0, 3, 7]), torch.tensor([1, 1, 6])):
        for n in (0, 1, 3):
            assert torch.equal(lifted(table, places, x, n), steps(table, places, x, n))
    with pytest.raises(IndexError):
        lifted(table, torch.tensor([0, 3, 9]), x, 2)
