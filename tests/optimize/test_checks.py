"""What was checked once is not checked again, where it is the same value and was surely checked."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


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


def test_what_each_step_checks_is_checked_before_the_loop():
    def iterated(x, d, n):
        h = x.clone()
        k = 0
        while k < n:
            new = torch.zeros_like(h)
            for i in range(len(h)):
                new[i] = (h[i].item() + x[i].item()) / d[i].item()
            h = new
            k += 1
        return h, k

    x = torch.linspace(-1, 1, 4, dtype=torch.float64)
    lifted = lift(iterated, backend="torch", verify="off")
    for d in (torch.linspace(1, 2, 4, dtype=torch.float64), torch.linspace(0, 2, 4, dtype=torch.float64)):
        for n in (0, 1, 3):
            try:
                wanted = iterated(x, d, n)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    lifted(x, d, n)
            else:
                assert difference(lifted(x, d, n), wanted, magnitude=1.0, path="call") is None
    lifted = lift(iterated, backend="torch", verify="off")
    lifted(x, x + 2, 3)
    (before, inside) = lifted.source.split("while True:")
    assert "raise RequirementFailed" in before and "RequirementFailed" not in inside


def test_arrays_that_keep_their_size_are_read_without_checks():
    def spread(x, n):
        h = x.clone()
        for _ in range(n):
            new = torch.zeros_like(h)
            for i in range(1, h.shape[0] - 1):
                new[i] = h[i] + 0.1 * (h[i - 1] + h[i + 1])
            h = new
        return h

    lifted = lift(spread, backend="torch", verify="off")
    for size in (3, 4, 7):
        for n in (1, 2, 5):
            x = torch.linspace(-1, 1, size)
            assert difference(lifted(x, n), spread(x, n), magnitude=1.0, path="call") is None
    lifted = lift(spread, backend="torch", verify="off")
    lifted(torch.linspace(-1, 1, 7), 3)
    (_, inside) = lifted.source.split("in range(n):")
    assert "RequirementFailed" not in inside


def test_arrays_that_grow_in_each_step():
    def grown(x, n):
        h = x.clone()
        for _ in range(n):
            new = torch.zeros(len(h) + 1, dtype=x.dtype)
            for i in range(len(h)):
                new[i] = h[i] * 2
            h = new
        return h

    lifted = lift(grown, backend="torch", verify="off")
    for n in (0, 1, 2, 4):
        x = torch.linspace(-1, 1, 3)
        assert difference(lifted(x, n), grown(x, n), magnitude=1.0, path="call") is None
