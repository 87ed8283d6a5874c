"""What a test tells of names that may be None: beyond it they are of one type, and no list holds None for them."""

import math

import pytest
import torch

from looplift import lift


def crossing(value, limit):
    for t in range(limit):
        value = value * 1.1
        if value > 3.0:
            return t * 0.1
    return None


def in_a_choice(values, limit):
    out = []
    for i in range(values.numel()):
        when = crossing(values[i].item(), limit)
        out.append(when if when is not None else -1.0)
    return torch.tensor(out, dtype=torch.float64)


def on_a_side(values, limit):
    out = []
    for i in range(values.numel()):
        when = crossing(values[i].item(), limit)
        if when is None:
            out.append(math.nan)
        else:
            out.append(when)
    return torch.tensor(out, dtype=torch.float64)


def after_a_side_that_goes_on(values, limit):
    out, missed = [], 0
    for i in range(values.numel()):
        when = crossing(values[i].item(), limit)
        if not (when is not None and i != 2):
            missed += 1
            continue
        out.append(when)
    return torch.tensor(out, dtype=torch.float64), missed


def bound_anew_meanwhile(values, limit):
    out, rounds = [], 0
    for i in range(values.numel()):
        when = crossing(values[i].item(), limit)
        if when is not None:
            while True:
                rounds += 1
                if when is None:
                    break
                out.append(when)
                when = crossing(when, 12)
            when = None
        out.append(0.0 if when is None else when)
    return torch.tensor(out, dtype=torch.float64), rounds


def asserted(values, limit):
    out = []
    for i in range(values.numel()):
        when = crossing(values[i].item(), limit)
        assert when is not None
        out.append(when)
    return torch.tensor(out, dtype=torch.float64)


def beside_a_tensor(values, limit):
    out, last = [], torch.empty_like(values)
    for i in range(values.numel()):
        when, value = None, values[i]
        for t in range(limit):
            value = value * 1.1
            if value.item() > 3.0:
                when = t * 0.1
                break
        last[i] = value
        out.append(-1.0 if when is None else when)
    return torch.tensor(out, dtype=torch.float64), last


LOOPS = [in_a_choice, on_a_side, after_a_side_that_goes_on, bound_anew_meanwhile, asserted, beside_a_tensor]


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except AssertionError:
        return "raised"


def same(mine, theirs):
    if isinstance(theirs, str):
        assert mine == theirs
    else:
        torch.testing.assert_close(mine, theirs, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("limit", [40, 15, 0])
def test_beyond_a_test_for_none(loop, limit):
    values = torch.tensor([0.1, 0.5, 2.0, 1.2, 2.9])
    lifted = lift(loop, verify="off")
    for _ in range(2):
        same(outcome(lifted, values, limit), outcome(loop, values, limit))
    assert limit != 40 or [one.decision for one in lifted.report().loops][:1] == ["native"]
