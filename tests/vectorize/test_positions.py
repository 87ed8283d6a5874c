"""Where vectors of lanes hold, and operations that the first lane alone would refuse."""

import numpy as np
import pytest
import torch

import looplift
from looplift.base.compare import difference


def first_match(x):
    out = torch.full((len(x),), -1)
    for i in range(len(x)):
        found = torch.where(x[i] > 1)[0]
        if len(found) > 0:
            out[i] = found[0]
    return out


def last_match(x):
    out = torch.full((len(x),), -1)
    for i in range(len(x)):
        found = (x[i] > 0.5).nonzero().squeeze(1)
        if found.numel() > 0:
            out[i] = found[-1]
    return out


def numbers_of_matches(x):
    out = []
    for i in range(len(x)):
        found = torch.nonzero(x[i].long()).flatten()
        out.append(int(found[0]) if len(found) else -1)
    return out


def member_of_class(x):
    labels, out = (x[:, 0].abs() * 2).long(), torch.zeros(9)
    for c in range(9):
        found = (labels == c).nonzero(as_tuple=True)[0]
        if len(found) > 0:
            out[c] = x[found[0]].sum()
    return out


def array_match(x):
    x = x.numpy()
    out = np.full(len(x), -1)
    for i in range(len(x)):
        found = np.where(x[i] > 1)[0]
        if found.size > 0:
            out[i] = found[0] + np.flatnonzero(x[i] > 1).sum()
    return out


def third_positive(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        found = x[i][x[i] > 0]
        if len(found) > 2:
            out[i] = found[2]
    return out


def divided(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if i > 0:
            out[i] = x[i].sum() * (10 // i) + 7 % i
    return out


def greatest_before(x):
    out = torch.zeros(x.shape[1])
    for i in range(x.shape[1]):
        if i > 0:
            out[i] = x[0, :i].max()
    return out


def without_condition(x):
    out = torch.full((len(x),), -1)
    for i in range(len(x)):
        out[i] = torch.where(x[i] > 1)[0][0]
    return out


PROGRAMS = [first_match, last_match, numbers_of_matches, member_of_class, array_match, third_positive, divided,
            greatest_before]  # fmt: skip


def inputs():
    torch.manual_seed(0)
    fixed = torch.tensor([[0.1, 0.2, 0.0], [2.0, -1.0, 3.0], [0.0, 0.0, 1.5]])
    return [fixed, torch.randn(7, 6), torch.randn(5, 4), torch.full((4, 5), -2.0), torch.ones(1, 1), torch.zeros(1, 2)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_same_as_the_loop(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for x in inputs():
        assert difference(lifted(x.clone()), program(x.clone())) is None
    assert lifted.report().loops[0].decision == "lanes"


def test_an_empty_result_raises_as_in_the_loop():
    lifted = looplift.lift(without_condition, verify="off")
    x = torch.full((4, 5), 2.0)
    assert difference(lifted(x), without_condition(x)) is None
    x[2] = 0
    with pytest.raises(IndexError):
        lifted(x)
