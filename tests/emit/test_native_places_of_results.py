"""Where a kernel puts what it hands out: each result has room for what is written there."""

import pytest
import torch

from looplift import lift


def beside_an_array_that_is_chosen(x, y, n):
    other = x
    made = torch.full((len(x),), 0.5, dtype=torch.float64)
    least, count = float("inf"), 0
    for i in range(n):
        least = min((y if i >= 0 else other).norm(), least)
        count += 2
    return made, least, count


def one_of_two(x, y, n):
    chosen, made, count = x, torch.zeros(len(x), dtype=torch.float64), 0
    for i in range(n):
        made[i % len(x)] += 1
        if i == 1:
            chosen = y
        count += i
    return made, chosen, count


def made_or_given(x, y, n):
    made = torch.ones(3, dtype=torch.float64)
    chosen, count = x, 0.5
    for i in range(n):
        count = count * 2 + chosen[0].item()
        if i == 1:
            chosen = made
    return chosen, made, count


@pytest.mark.parametrize("function", [beside_an_array_that_is_chosen, one_of_two, made_or_given])
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_results_have_the_kinds_and_values_of_the_loop(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for k in range(24):
        x, y = (torch.randn(3, dtype=torch.float64) for _ in range(2))
        found, wanted = lifted(x, y, k % 4), function(x, y, k % 4)
        assert [type(one) for one in found] == [type(one) for one in wanted]
        torch.testing.assert_close(found, wanted)
        for one in range(2):
            assert (found[one] is x, found[one] is y) == (wanted[one] is x, wanted[one] is y)
