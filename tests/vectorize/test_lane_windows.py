"""Windows in the last dimensions of what is each lane's own, at places that the data tells."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def crops(x, tops, lefts, h, w):
    out = []
    for i in range(len(tops)):
        top, left = int(tops[i]), int(lefts[i])
        out.append(x[i, :, top : top + h, left : left + w])
    return torch.stack(out)


def crops_of_channels(x, tops, lefts, h, w):
    out = torch.zeros(len(tops), 2, w, dtype=x.dtype)
    for i in range(len(tops)):
        for c in range(2):
            top, left = int(tops[i]), int(lefts[i]) - c
            out[i, c] = x[i, c, top : top + h, left : left + w].sum(0)
    return out


def crops_under_a_condition(x, tops, lefts, h, w):
    out = torch.zeros(len(tops), 2, h, w, dtype=x.dtype)
    for i in range(len(tops)):
        top, left = int(tops[i]), int(lefts[i])
        if top + left > 2:
            out[i] = x[i, :, top : top + h, left : left + w] ** 2
    return out


def crops_of_changed(x, tops, lefts, h, w):
    y = x * 2
    out = []
    for i in range(len(tops)):
        top, left = int(tops[i]), int(lefts[i])
        out.append((y[i, :, top : top + h, left : left + w] * 3).sum())
        y[i] = 0
    return torch.stack(out), y


def places(count: int, most: int, seed: int) -> torch.Tensor:
    return torch.randint(1, most + 1, (count,), generator=torch.Generator().manual_seed(seed))


PROGRAMS = [crops, crops_of_channels, crops_under_a_condition, crops_of_changed]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_windows_of_each_lane(function):
    calls = []
    for count, rows in ((4, 4), (3, 5), (2, 2), (1, 3), (1, 1)):
        x = torch.randn(rows, 2, 6, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(count))
        calls.append([x, places(count, 3, 1), places(count, 4, 2), 3, 2])
    check(function, *calls)


@pytest.mark.parametrize("function", PROGRAMS[:3], ids=lambda f: f.__name__)
def test_second_gradients(function):
    x = torch.randn(3, 2, 6, 7, dtype=torch.float64)
    rest = places(3, 3, 1), places(3, 4, 2), 3, 2

    def second(called):
        given = x.clone().requires_grad_()
        (first,) = torch.autograd.grad((called(given, *rest) ** 3).sum(), given, create_graph=True)
        return torch.autograd.grad((first**2).sum(), given)[0]

    lifted = lift(function, verify="off", backend="torch")
    torch.testing.assert_close(second(lifted), second(function))
    assert "blocks_along" in lifted.source


def test_windows_that_reach_outside_are_what_the_loop_makes_of_them():
    def taken(called, *values):
        try:
            return outcome(called, list(values), gradients=True)
        except Exception as error:
            return type(error), str(error)

    x = torch.randn(3, 2, 6, 7, dtype=torch.float64)
    for tops in ([0, 3, 4], [1, 6, 2], [-1, 2, 2], [2, 2, -6], [7, 7, 7]):
        given = x, torch.tensor(tops), places(3, 4, 2), 3, 2
        for function in (crops, crops_of_changed):
            wanted, got = taken(function, *given), taken(lift(function, verify="off"), *given)
            if isinstance(wanted, tuple):
                assert got == wanted
            else:
                assert difference(got, wanted, magnitude=1.0) is None
