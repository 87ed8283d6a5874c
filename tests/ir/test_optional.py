"""Values that may be None in some iterations: in helpers that return None, behind ``break``, under conditions."""

import pytest
import torch

import looplift
from looplift.base.compare import difference


def first_positive(row):
    for v in row:
        if v > 0:
            return v
    return None


def of_helper(x, c):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        found = first_positive(x[i])
        if found is not None:
            total = total + found * found
    return total


def march(start, slope, steps):
    t = 0.1
    for n in range(steps):
        d = 2.0 - (start + t * slope)
        if d < 0.05:
            return t, n
        t += 0.5 * abs(d)
        if t > 6.0:
            break
    return None, -1


def of_two(x, c):
    out = torch.zeros(len(x), dtype=x.dtype)
    count = torch.zeros(len(x), dtype=torch.long)
    for i in range(len(x)):
        t, n = march(x[i, 0].item(), 0.5, 12)
        count[i] = n
        if t is None:
            out[i] = -1.0
            continue
        out[i] = x[i, 1] * t
    return out, count


def behind_break(x, c):
    out = []
    for i in range(len(x)):
        hit = None
        for j in range(x.shape[1]):
            if x[i, j] > c:
                hit = j
                break
        out.append(-1 if hit is None else hit)
    return out


def last_seen(x, c):
    out = torch.zeros_like(x)
    for b in range(len(x)):
        last = None
        for t in range(x.shape[1]):
            if x[b, t] > c:
                last = x[b, t] * 2
            if last is not None:
                out[b, t] = last
    return out


def unguarded(x, c):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        best = None
        for j in range(x.shape[1]):
            if x[i, j] > c:
                best = x[i, j]
        out[i] = best * 2
    return out


def both(x, c):
    total = 0.0
    for i in range(len(x)):
        low = high = None
        for j in range(x.shape[1]):
            v = x[i, j]
            if v > c and (high is None or v > high):
                high = v
            if v < -c and (low is None or v < low):
                low = v
        if low is not None and high is not None:
            total = total + (high - low)
    return total


def as_a_condition(x, c):
    out = []
    for i in range(len(x)):
        hit = None
        for j in range(x.shape[1]):
            if x[i, j] > c:
                hit = j
        if hit:
            out.append(hit)
        else:
            out.append(hit is None)
    return [int(v) for v in out]


def as_a_bound(x, c):
    total = 0.0
    for i in range(len(x)):
        end = None
        for j in range(x.shape[1]):
            if x[i, j] > c:
                end = j + 1
        for k in range(end):
            total = total + x[i, k]
    return total


PROGRAMS = [as_a_condition, as_a_bound, of_helper, of_two, behind_break, last_seen, unguarded, both]


def inputs(n, scale=1.0):
    return torch.randn(n, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(n)) * scale


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize(("backend", "verify"), [("auto", "first"), ("torch", "off")])
def test_values_that_may_be_none(program, backend, verify):
    lifted = looplift.lift(program, verify=verify, backend=backend)
    for n, scale in ((6, 1), (1, 1), (0, 1), (7, 0.1), (2, 3), (9, 1)):
        for gradients in (False, True):
            x, other = inputs(n, scale).requires_grad_(gradients), inputs(n, scale).requires_grad_(gradients)
            try:
                wanted = program(other, 0.3)
            except TypeError:
                with pytest.raises(TypeError):
                    lifted(x, 0.3)
                continue
            got = lifted(x, 0.3)
            assert difference(got, wanted, magnitude=5) is None
            one, two = (r[0] if isinstance(r, tuple) else r for r in (got, wanted))
            if gradients and isinstance(two, torch.Tensor) and two.grad_fn is not None:
                mine, theirs = one.sum(), two.sum()
                torch.testing.assert_close(
                    torch.autograd.grad(mine, x, allow_unused=True),
                    torch.autograd.grad(theirs, other, allow_unused=True),
                )


@pytest.mark.parametrize("program", [of_helper, of_two, behind_break], ids=lambda p: p.__name__)
def test_they_are_lifted(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    lifted(inputs(6), 0.3)
    assert lifted.report().loops[-1].decision != "kept", str(lifted.report())
