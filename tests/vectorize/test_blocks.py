"""Stores into slices of one width, each of another iteration: heads, groups and tiles."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def x_of(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(4))


def groups(x, k):
    out = torch.zeros(x.shape)
    for n in range(x.shape[0]):
        for g in range(x.shape[1] // k):
            part = x[n, g * k : (g + 1) * k]
            out[n, g * k : (g + 1) * k] = (part - part.mean()) / torch.sqrt(part.var(unbiased=False) + 1e-5)
    return out


def heads(x, k):
    d = x.shape[1] // k
    out = torch.ones_like(x)
    for h in range(k):
        for i in range(x.shape[0]):
            weights = torch.softmax(x[i, h * d : (h + 1) * d] @ x[:, h * d : (h + 1) * d].T, 0)
            out[i, h * d : (h + 1) * d] = weights @ x[:, h * d : (h + 1) * d]
    return out


def some_of_them(x, k):
    out = torch.ones(x.shape[0], 12)
    for n in range(x.shape[0]):
        for g in range(1, 3):
            out[n, g * 4 : g * 4 + 3] = x[n, :3] * g
    for n in range(x.shape[0]):
        for g in range(2):
            out[n, g * 4 + 4 : g * 4 + 8] = out[n, g * 4 + 4 : g * 4 + 8] + x[n, g]
    return out


def updated(x, k):
    out = torch.ones(12, x.shape[0]) * 2
    for n in range(x.shape[0]):
        for g in range(3):
            out[g * 4 : (g + 1) * 4, n] += x[n, g * 4 : (g + 1) * 4]
    for n in range(x.shape[0]):
        for g in range(3):
            out[g * 4 : (g + 1) * 4, n] *= x[n, g * 4 : (g + 1) * 4] * x[n, g]
    return out


def tiles(x, k):
    out = torch.zeros(12, 12)
    for a in range(3):
        for b in range(4):
            out[a * 4 : (a + 1) * 4, b * 3 : (b + 1) * 3] = x[:4, b * 3 : (b + 1) * 3] * a
    return out


def diagonal(x, k):
    out = torch.zeros(12)
    for g in range(3):
        out[g * 4 : (g + 1) * 4] = x[g, g * 4 : (g + 1) * 4] * 2
    return out


@pytest.mark.parametrize("function", (groups, heads, some_of_them, updated, tiles, diagonal))
def test_blocks(function):
    check(function, [x_of(6, 12), 3], [x_of(6, 12), 2], decisions={"lanes"})


def test_into_a_view_of_the_caller():
    def into(x, base):
        out = base[:, ::2]
        for n in range(x.shape[0]):
            for g in range(3):
                out[n, g * 4 : (g + 1) * 4] = x[n, g * 4 : (g + 1) * 4] * 2
        return base

    check(into, [x_of(6, 12), torch.zeros(6, 24)], gradients=False, decisions={"lanes"})


@pytest.mark.parametrize("width", (5, 7))
def test_what_does_not_fit_is_the_loops(width):
    def cut_off(x, k):
        out = torch.zeros(x.shape)
        for n in range(x.shape[0]):
            for g in range(3):
                out[n, g * k : (g + 1) * k] = x[n, g * k : (g + 1) * k] * (g + 1)
        return out

    x = x_of(6, 12)
    lifted = lift(cut_off, verify="off")
    for k in (4, width, 4):
        assert torch.equal(lifted(x, k), cut_off(x, k))


def test_too_many_blocks_raise():
    def beyond(x, out):
        for n in range(x.shape[0]):
            for g in range(4):
                out[n, g * 4 : (g + 1) * 4] = x[n, :4] + g

    expected, found = torch.zeros(6, 12), torch.zeros(6, 12)
    with pytest.raises(RuntimeError) as loop:
        beyond(x_of(6, 12), expected)
    with pytest.raises(RuntimeError) as lifted:
        lift(beyond, verify="off")(x_of(6, 12), found)
    assert str(loop.value) == str(lifted.value)
    assert torch.equal(expected, found)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("width", "shift"), [(1, -1), (2, -2), (2, -1), (1, 0), (3, 3)])
def test_blocks_that_begin_before_the_first_are_at_the_end(width, shift, backend):
    def shifted(x, m):
        for i in range(m):
            x[width * i + shift : width * (i + 1) + shift] = 1.5 + i
        return x

    for n, m in ((6, 3), (6, 2), (6, 1), (3, 2)):
        wanted, found = torch.zeros(n), torch.zeros(n)
        lifted = lift(shifted, backend=backend, verify="off")
        assert torch.equal(lifted(found, m), shifted(wanted, m))
