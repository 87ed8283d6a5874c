"""Carried values computed into old memory: nobody may see that."""

from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def squares(x, n):
    for _ in range(n):
        x = x * x
    return x


def waves(x, n):
    y = x
    for k in range(n):
        y = abs(y - k) * y + k
    return y, x


def halves_of_one(x, n):
    z = x[0]
    for _ in range(n):
        z = (z * z + x) / 2
    return z


def nested(x, n):
    for _ in range(n):
        y = x
        for _ in range(3):
            y = y * y + 1
        x = y - x
    return x


def remembered(x, n):
    old = x
    for _ in range(n):
        old = x
        x = x * x
    return x, old


def gathered(x, n):
    every = []
    for _ in range(n):
        x = x * x
        every.append(x)
    return every


def chosen(x, n):
    first = x
    for k in range(n):
        x = x * x
        if k == n - 2:
            first = x
    return first, x


def first_apart(x, n):
    first = x
    for k in range(n):
        x = x * x
        if k == 0:
            first = x
    return first, x


def shrinking(x, n):
    for _ in range(n):
        x = x[1:] + x[:-1]
    return x


def in_place(x, n):
    for _ in range(n):
        x *= 2
    return x


def stored(x, n):
    out = torch.zeros(n, len(x), dtype=torch.float64)
    for k in range(n):
        x = x * x
        out[k] = torch.as_tensor(x)
    return out, x


LOOPS = [squares, waves, halves_of_one, nested, remembered, gathered, chosen, first_apart, shrinking, in_place, stored]
REUSING = [squares, waves]


def values(kind):
    """Arguments of several sizes, in a way of their own for each kind."""
    for size in (6, 4, 1, 0):
        x = np.linspace(0.5, 1.5, size)
        if kind == "strided":
            yield torch.from_numpy(np.linspace(0.5, 1.5, 2 * size))[::2]
        elif kind == "transposed":
            yield torch.from_numpy(np.outer(x, np.ones(5))).T
        elif kind == "integers":
            yield torch.arange(size)
        else:
            yield x if kind == "array" else torch.from_numpy(x).requires_grad_(kind == "gradients")


def shared(results, x):
    """Which results are, or lie in, the memory of which other ones or the argument."""
    every = [*results, x]
    tensors = [torch.as_tensor(one) for one in every]
    places = [one.untyped_storage().data_ptr() if one.numel() else k for k, one in enumerate(tensors)]
    return [[a is b for b in every] for a in every], [[a == b for b in places] for a in places]


def outcome(function, x, n):
    if isinstance(x, torch.Tensor):
        x = x.detach().clone().requires_grad_(x.requires_grad)
    else:
        x = x.copy()
    try:
        result = function(x, n)
    except Exception as error:
        return repr(error)
    every = result if isinstance(result, tuple | list) else [result]
    found = [result, x, shared(every, x)]
    if isinstance(x, torch.Tensor) and x.requires_grad:
        found.append(torch.autograd.grad(sum([(one**2).sum() for one in every], x.sum()), x))
    return found


@pytest.mark.parametrize("kind", ["tensor", "strided", "transposed", "integers", "gradients", "array"])
@pytest.mark.parametrize("loop", LOOPS)
def test_nobody_sees_the_memory(loop, kind):
    lifted = lift(loop, verify="off", backend="torch")
    for x in values(kind):
        for n in (3, 1, 0):
            assert difference(outcome(lifted, x, n), outcome(loop, x, n)) is None


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", REUSING)
def test_old_memory_is_used(loop, backend):
    lifted = lift(loop, verify="off", backend=backend)
    lifted(torch.ones(20000), 3)
    assert "out=buffer" in lifted.source
    assert lifted.report().loops[0].decision == "sequential"


@pytest.mark.parametrize("loop", [remembered, gathered, chosen, shrinking, in_place])
def test_old_memory_is_not_used_where_it_may_be_seen(loop):
    lifted = lift(loop, verify="off", backend="torch")
    lifted(torch.ones(5), 3)
    assert "out=buffer" not in lifted.source


def test_old_memory_is_not_used_where_gradients_flow():
    lifted: Any = lift(squares, verify="off", backend="torch")
    lifted(torch.ones(5, requires_grad=True), 3)
    assert "out=buffer" not in lifted.source
