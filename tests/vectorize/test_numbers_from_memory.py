"""Numbers that are read from arrays, and kept while a loop that stays goes on to write to these."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def carried(y, v, p):
    for i in range(len(v)):
        h = 0.0
        for t in range(4):
            p[i] = p[i] * p[i] + v[i]
            y[i, t] = h
            h = float(p[i])
    return y


def carried_in_turn(y, v, p):
    for i in range(len(v)):
        k, a = 0.0, 1.0
        for t in range(4):
            y[i, t] = k + a
            p[i] = p[i] * p[i] + v[i]
            a = k
            if t > 1:
                k = float(p[i])
            p[i] = p[i] * 0.5
            y[i, t] += k
    return y


def for_later(y, v, p):
    for i in range(len(v)):
        h = v[i]
        for t in range(4):
            p[i] = p[i] * 2 + 1
            k = float(p[i])
            h = h * h * 0.1 + k
            y[i, t] = h + k
            y[i, 3] = h
    return y


def appended(y, v, p):
    out = []
    for i in range(len(v)):
        h, hs = v[i], []
        for _t in range(4):
            p[i] = p[i] * h + v[i]
            h = h * h * 0.1
            hs.append(p[i].item())
        out.append(hs)
    return out


def until_large(y, v, p):
    for i in range(len(v)):
        k = 1.0
        while k < 30:
            y[i, 0] += k
            p[i] = p[i] * 2 + 3
            a = k
            k = float(p[i])
            p[i] = p[i] + a
    return y


def of_one_side(y, v, p):
    for row in enumerate(v):
        for j in range(len(p)):
            a = j if row == 0.5 else y[j, 1]
            y[j] = y[j].sum()
            y[j] = a
    return y


@pytest.mark.parametrize("program", [carried, carried_in_turn, for_later, appended, until_large, of_one_side])
@pytest.mark.parametrize("array", [False, True], ids=["torch", "numpy"])
def test_numbers_that_are_kept_do_not_change_with_the_array(program, array):
    generator = torch.Generator().manual_seed(0)
    for backend in ("torch", "auto"):
        lifted = lift(program, verify="off", backend=backend)
        for n in (5, 1):
            made = [torch.rand(*shape, generator=generator, dtype=torch.float64) for shape in ((n, 4), (n,), (n,))]
            given, taken = ([t.numpy().copy() if array else t.clone() for t in made] for _ in range(2))
            assert difference((lifted(*given), given), (program(*taken), taken)) is None


def views_for_later(y, v, p):
    for i in range(len(v)):
        h = v[i]
        for t in range(4):
            p[i] = torch.sin(p[i] * 3)
            k = p[i].view(3)
            h = torch.tanh(h * h)
            y[i, t] = torch.tanh(h * k)
    return y


def test_views_in_the_steps_of_a_loop_are_kept_as_they_were():
    lifted = lift(views_for_later, verify="off", backend="torch")
    made = [torch.rand(*shape, dtype=torch.float64) for shape in ((5, 4, 3), (5, 3), (5, 3))]
    given, taken = ([t.clone() for t in made] for _ in range(2))
    assert difference((lifted(*given), given), (views_for_later(*taken), taken)) is None
