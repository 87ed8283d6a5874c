"""Loops that are left by their last statement: the iteration that ends them does what all of those before it do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check
from tests.vectorize.test_search_blocks import agree, in_blocks

from looplift import lift

__all__ = ["in_blocks"]


def until_enough(p, u):
    kept, places = [], []
    for i in range(p.shape[0]):
        row = p[i].tolist()
        chosen, mass = [], 0.0
        for k in range(len(row)):
            chosen.append(k)
            mass += row[k]
            if mass >= u[i] and len(chosen) >= 2:
                break
        kept.append(len(chosen))
        places.append(chosen[-1])
    return kept, places


def stored_until(p, u):
    out = torch.zeros_like(p)
    left = []
    for i in range(p.shape[0]):
        last = -1
        for k in range(p.shape[1]):
            out[i, k] = p[i, k] * 2
            last = k
            if p[i, k] > u[i]:
                break
        left.append(last)
    return out, left


def backwards_until(p, u):
    out = torch.zeros_like(p)
    for i in range(p.shape[0]):
        for k in range(p.shape[1] - 1, -1, -1):
            out[i, k] = p[i, k] + 1
            if p[i, k] > u[i]:
                break
    return out


def alone(p, u):
    out = torch.zeros_like(p[0])
    count = 0
    for k in range(p.shape[1]):
        out[k] = p[0, k] + 1
        count += 1
        if p[0, k] > u[0]:
            break
    return out, count


def another_thing_at_the_end(p, u):
    out = torch.zeros_like(p)
    for i in range(p.shape[0]):
        for k in range(p.shape[1]):
            out[i, k] = p[i, k] * 2
            if p[i, k] > u[i]:
                out[i, k] = -1.0
                break
    return out


def every_second(p, u):
    out = torch.zeros_like(p)
    for i in range(p.shape[0]):
        for k in range(1, p.shape[1], 2):
            out[i, k] = p[i, k] * 2
            if p[i, k] > u[i]:
                break
    return out


P = torch.rand(7, 23, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
CALLS = [[P, P[:, :9].sum(1)], [P, P[:, 0] * 0 + 1e9], [P, P[:, 0] * 0 - 1.0], [P, P[:, 3].clone()]]
STORING = [stored_until, backwards_until, another_thing_at_the_end, every_second]


def test_lists_of_all_items_up_to_the_last():
    check(until_enough, *CALLS, gradients=False, decisions={"lanes", "scan"})


@pytest.mark.parametrize("function", STORING)
def test_stores_up_to_the_last(function):
    check(function, *CALLS, gradients=False)


def test_a_loop_without_lanes_around_it():
    check(alone, *CALLS, gradients=False)


@pytest.mark.parametrize("function", [until_enough, *STORING])
@pytest.mark.usefixtures("in_blocks")
def test_in_blocks(function):
    agree(function, *CALLS, [P[:, :1], P[:, 0]], [P[:0], P[:0, 0]])


@pytest.mark.parametrize("function", [stored_until, backwards_until])
def test_gradients(function):
    agree(function, *CALLS, gradients=True)


def drawn_from(p, u):
    found = []
    for i in range(p.shape[0]):
        chance = torch.rand((), dtype=torch.float64).item()
        total, place = 0.0, -1
        for k in range(p.shape[1]):
            total += p[i, k].item()
            if total >= chance * u[i]:
                place = k
                break
        found.append(place)
    return found


def test_draws_are_no_reason_for_a_kernel():
    lifted: Any = lift(drawn_from, backend="torch", verify="off")
    for values in CALLS:
        torch.manual_seed(3)
        wanted = drawn_from(*values)
        torch.manual_seed(3)
        assert lifted(*values) == wanted
    assert {one.decision for one in lifted.report().loops} == {"lanes", "scan"}
