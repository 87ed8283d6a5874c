"""Two views of one element are two objects, one view under two names is one."""

import pytest
import torch

from looplift import lift


def views(n):
    found = {}
    x = torch.zeros(n)
    for k in range(2):
        found[k] = x[1]
    return list(found.values())


def parts(n):
    x = torch.zeros(n)
    for k in range(n):
        x[k] = 1.0 if k % 2 else 0.5
    return [x, x[:], x]


def one(n):
    found = []
    x = torch.zeros(n)
    for k in range(n):
        v = x[k] + k
        found.append(v)
        found.append(v)
    return found


@pytest.mark.parametrize("program", [views, parts, one])
def test_identity_is_the_loops(program):
    got, wanted = lift(program, verify="off")(4), program(4)
    assert [[a is b for b in got] for a in got] == [[a is b for b in wanted] for a in wanted]
    assert all(map(torch.equal, got, wanted))
