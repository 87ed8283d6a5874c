"""Updates whose place, or value, is read twice: one value only where nothing is stored into it in between."""

import pytest
import torch
from tests.vectorize.harness import check, check_backends

EVERYWHERE = {"auto", "torch", "native"}
PLACES = torch.tensor([0, 3, 1, 1, 0, 2, 3, 3, 1])


def values(n, seed=0):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def places_that_move(out, at, x):
    for i in range(len(x)):
        before = at[i]
        at[i] = 3
        old = out[before]
        out[at[i]] = old + x[i]
    return out


def places_that_move_on(out, at, x):
    for i in range(len(x)):
        before = at[i]
        at[i] = (before + 1) % 4
        if x[i] > out[before]:
            out[at[i]] = x[i]
    return out


def values_that_grow(out, at, x):
    for i in range(len(x)):
        v = x[i].copy() if not isinstance(x, torch.Tensor) else x[i].clone()
        x[i] = v + 1
        if v > out[at[i]]:
            out[at[i]] = x[i]
    return out


def sums(out, at, x):
    for i in range(len(x)):
        out[at[i]] = out[at[i]] + x[i]
    return out


def greatest(out, at, x):
    for i in range(len(x)):
        if x[i] > out[at[i]]:
            out[at[i]] = x[i]
    return out


@pytest.mark.parametrize("loop", [places_that_move, places_that_move_on, values_that_grow])
def test_what_changes_between_the_reads(loop):
    check_backends(loop, [values(4), PLACES, values(9, 1)], kept=EVERYWHERE)
    check_backends(loop, [values(4).numpy(), PLACES.numpy(), values(9, 1).numpy()], kept=EVERYWHERE)


@pytest.mark.parametrize("loop", [sums, greatest])
def test_what_does_not_change_is_an_update(loop):
    check(loop, [values(4), PLACES, values(9, 1)], gradients=False)


def products(out, at, x):
    for i in range(len(x)):
        out[at[i]] *= x[i]
    return out


def test_products_of_complex_numbers_with_gradients_are_kept():
    given = [values(4) + 1j, PLACES, values(9, 1) + 2j]
    check_backends(products, given, kept=EVERYWHERE)
    given[2].requires_grad_()
    check_backends(products, given, kept=EVERYWHERE)


def emptied(xs):
    items, total = [1.0], 0.0
    items[:] = []
    for i in range(len(xs)):
        if items:
            total = total + xs[i]
        items.append(xs[i] * 2)
    return total, items


def test_a_list_whose_items_are_taken_out_by_a_slice():
    check_backends(emptied, [[1.5, 2.0, -3.0]], kept=EVERYWHERE)
