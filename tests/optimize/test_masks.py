"""Masks that always hold, integers that look like them, and what is chosen, counted and required by masks."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def joined_to_their_complement(x, out):
    for i in range(len(x)):
        out[i] = x[i] | ~x[i]
    return out


def numbers_and_their_complement(n):
    joined = []
    for i in range(n):
        joined.append(i | ~i)
    return joined


def counted_rows(x, out):
    for i in range(len(x)):
        out[i] = (x[i] | ~x[i]).sum()
    return out


def test_an_integer_or_its_complement_is_minus_one():
    check(joined_to_their_complement, [torch.arange(4), torch.zeros(4, dtype=torch.int64)], decisions={"lanes"})
    check(numbers_and_their_complement, [4], decisions={"lanes"})


def test_rows_keep_their_shape():
    rows = torch.arange(12).view(4, 3) % 2 == 0
    check(joined_to_their_complement, [rows, torch.zeros(4, 3, dtype=torch.bool)], decisions={"lanes"})
    check(counted_rows, [rows, torch.zeros(4, dtype=torch.int64)], decisions={"lanes"})


def contrasted(e, labels, margin):
    loss, count = 0.0, 0
    for i in range(len(e)):
        for j in range(i + 1, len(e)):
            d = torch.norm(e[i] - e[j])
            if labels[i] == labels[j]:
                loss = loss + d**2
            else:
                loss = loss + torch.clamp(margin - d, min=0) ** 2
            count += 1
    return loss / count


def three_ways(x, labels):
    total = torch.zeros(())
    for i in range(len(x)):
        if labels[i] == 0:
            total = total + x[i]
        elif labels[i] == 1:
            total = total - x[i] * 2
        else:
            total = total + 1.5
    return total


def of_one_or_the_other(x, labels):
    total = torch.zeros(())
    for i in range(len(x)):
        if labels[i] == 0:
            total = total + x[i].abs().sqrt()
        else:
            total = total + labels[i] / 2
    return total


def first_places(a, b):
    out = b.clone()
    for i in range(len(b)):
        found = torch.where(a == b[i])[0]
        if len(found) > 0:
            out[i] = 100 + found[0]
    return out


def pairs_in_common(labels):
    count = 0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] == labels[j] and i != j:
                count += 1
    return count


LABELS = [torch.tensor([0, 1, 2, 1, 0]), torch.zeros(5), torch.ones(5), torch.full((5,), 2), torch.tensor([0])]


@pytest.mark.parametrize("labels", LABELS)
def test_what_one_side_or_the_other_adds_is_chosen_before_it_is_summed(labels):
    x = torch.randn(len(labels), 3, generator=torch.Generator().manual_seed(1))
    check(three_ways, [x[:, 0], labels])
    check(of_one_or_the_other, [x[:, 0], labels])
    if len(labels) > 1:
        check(contrasted, [x, labels, 1.0])
        check(pairs_in_common, [labels])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_side_that_is_not_taken_does_not_reach_the_sum(number):
    x = torch.tensor([1.0, number, -2.0])
    check(three_ways, [x, torch.tensor([0, 2, 1])], gradients=False)
    check(of_one_or_the_other, [x, torch.tensor([0, 2, 1])], gradients=False)


def test_one_sum_of_both_sides_and_one_count():
    lifted = lift(contrasted, verify="off", backend="torch")
    lifted(torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0]), 1.0)
    assert lifted.source.count(".sum(") == 1
    assert lifted.source.count("count_nonzero(") == 1


def test_what_a_condition_holds_for_is_not_asked_of_its_lanes():
    check(first_places, [torch.tensor([3, 1, 2, 1]), torch.tensor([1, 5, 2])], gradients=False)
    check(first_places, [torch.tensor([3, 1]), torch.tensor([7, 8])], gradients=False)
    lifted = lift(first_places, verify="off", backend="torch")
    lifted(torch.tensor([3, 1, 2, 1]), torch.tensor([1, 5, 2]))
    assert "RequirementFailed" not in lifted.source


def near_ones_of_a_kind(x, labels):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(len(x)):
            near = (x[i] - x[j]).abs() if labels[i] == labels[j] else 0.0
            total = total + (near if i < j else 0.0)
    return total


def chosen_twice(x, y, labels):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        kept = x[i] if labels[i] > 0 else 0.0
        out[i] = kept - y[i] * 2 if labels[i] > 0 else -1.0
    return out


@pytest.mark.parametrize("labels", LABELS[:4])
@pytest.mark.parametrize("odd", [0.5, float("nan"), float("inf")])
def test_choices_in_choices(labels, odd):
    x = torch.randn(len(labels), generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    check(near_ones_of_a_kind, [x, labels])
    check(chosen_twice, [x, x.flip(0), labels])
    x[0] = odd
    check(near_ones_of_a_kind, [x, labels], gradients=False)
    check(chosen_twice, [x, x.flip(0), labels], gradients=False)


def test_choices_in_choices_are_one():
    lifted = lift(near_ones_of_a_kind, verify="off", backend="torch")
    lifted(torch.randn(5), LABELS[0])
    assert lifted.source.count("torch.where(") == 1
    lifted = lift(chosen_twice, verify="off", backend="torch")
    lifted(torch.randn(5), torch.randn(5), LABELS[0])
    assert lifted.source.count("torch.where(") == 1


def test_what_is_not_equal_differs():
    def ratios(x, y):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            if y[i].item() == 0:
                out[i] = -1
            else:
                out[i] = x[i].item() / y[i].item()
        return out

    lifted = lift(ratios, backend="torch", verify="off")
    numbers = [0.0, 1.0, -0.0, float("nan"), float("inf"), 2.0]
    for size in (1, 2, 6):
        x, y = torch.linspace(1, 2, size, dtype=torch.float64), torch.tensor(numbers[:size], dtype=torch.float64)
        assert torch.equal(lifted(x, y).nan_to_num(nan=7.0), ratios(x, y).nan_to_num(nan=7.0))
    lifted = lift(ratios, backend="torch", verify="off")
    lifted(x, y)
    assert "!= 0" not in lifted.source


def test_what_is_not_equal_to_another_number_is_checked():
    def ratios(x, y):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            if not y[i].item() == 1:
                out[i] = x[i].item() / y[i].item()
        return out

    lifted = lift(ratios, backend="torch", verify="off")
    x = torch.ones(3, dtype=torch.float64)
    assert torch.equal(lifted(x, x + torch.arange(3)), ratios(x, x + torch.arange(3)))
    with pytest.raises(ZeroDivisionError):
        lifted(x, x - torch.arange(3))


def places_of_tokens(given, wanted, size):
    found = wanted.clone()
    for b in range(wanted.shape[0]):
        for t in range(wanted.shape[1]):
            if wanted[b, t] in (0, 1):
                continue
            where = torch.where(given[b] == wanted[b, t])[0]
            if len(where) > 0:
                found[b, t] = size + where[0]
    return found


def test_a_condition_is_not_joined_with_each_place_that_it_lets_in():
    generator = torch.Generator().manual_seed(0)
    for rows, columns, places in ((3, 4, 5), (1, 1, 1), (2, 3, 0), (1, 6, 2)):
        given = torch.randint(0, 4, (rows, places), generator=generator)
        wanted = torch.randint(0, 4, (rows, columns), generator=generator)
        check(places_of_tokens, [given, wanted, 10], gradients=False)
    lifted = lift(places_of_tokens, verify="off", backend="torch")
    lifted(torch.randint(0, 4, (3, 5)), torch.randint(0, 4, (3, 4)), 10)
    assert "RequirementFailed" not in lifted.source and lifted.source.count("[:, :, None]") == 1
