"""``if best is None or v < best``: the first value is taken in any case, also under conditions."""

import pytest
import torch

from looplift import lift


def nearest(x, labels):
    out = []
    places = []
    for i in range(len(x)):
        best, where = None, None
        for j in range(len(x)):
            if i != j and labels[i] == labels[j]:
                d = ((x[i] - x[j]) ** 2).sum()
                if best is None or d < best:
                    best, where = d, j
        if best is None:
            out.append(x[i].sum())
            places.append(-1)
        else:
            out.append(best)
            places.append(where)
    return torch.stack(out), torch.tensor(places)


def last_of_class(x, labels):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        hit = None
        for j in range(len(x)):
            if labels[i] == labels[j] and i != j:
                hit = x[j, 0] * 2
        if hit is not None:
            out[i] = hit
    return out


def spread(x, labels):
    lo, hi = None, None
    for i in range(len(x)):
        v = x[i, 0]
        if labels[i] == 1:
            if lo is None or v < lo:
                lo = v
            if hi is None or v >= hi:
                hi = v
    if lo is None:
        return x.sum()
    return hi - lo


def best_product(x, labels):
    out = []
    for i in range(len(x)):
        best = None
        for j in range(len(x)):
            if labels[j] == labels[i]:
                v = x[i, 0].item() * x[j, 0].item()
                if best is None or best < v:
                    best = v
        out.append(best)
    return torch.tensor(out)


def pairs(x, labels):
    losses = []
    for i in range(len(x)):
        best, far = None, None
        for j in range(len(x)):
            if i == j:
                continue
            d = torch.norm(x[i] - x[j])
            if labels[i] == labels[j]:
                if best is None or d > best:
                    best = d
            else:
                if far is None or d < far:
                    far = d
        if best is not None and far is not None:
            losses.append(torch.relu(best - far + 0.3))
    if not losses:
        return x.sum() * 0
    return torch.stack(losses).mean()


LOOPS = (nearest, last_of_class, spread, best_product, pairs)
SIZES = ((30, 4), (30, 20), (5, 1), (1, 1), (2, 2), (12, 4))


def data(n, classes, asks):
    torch.manual_seed(n + classes)
    x, labels = torch.randn(n, 5), torch.randint(0, classes, (n,))
    if n == 12:
        x[3:6], x[7] = x[3].clone(), float("nan")
    return x.requires_grad_(asks), labels


def slope(result, x):
    result = result[0] if isinstance(result, tuple) else result
    return torch.autograd.grad(result.sum(), x, allow_unused=True)[0] if result.requires_grad else None


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda one: one.__name__)
def test_values_and_gradients_are_those_of_the_loop(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for asks in (False, True):
        for n, classes in SIZES:
            x, labels = data(n, classes, asks)
            got, wanted = lifted(x, labels), loop(x, labels)
            torch.testing.assert_close(got, wanted, equal_nan=True)
            ours, theirs = slope(got, x), slope(wanted, x)
            assert (ours is None) == (theirs is None)
            if ours is not None:
                torch.testing.assert_close(ours, theirs, equal_nan=True)


@pytest.mark.parametrize("loop", [nearest, pairs], ids=lambda one: one.__name__)
def test_all_rows_run_together(loop):
    lifted = lift(loop, backend="torch", verify="off")
    lifted(*data(30, 4, True))
    assert {one.decision for one in lifted.report().loops} == {"lanes", "scan"}


def taken_by_flags(x, flags):
    found = []
    for i in range(x.shape[0]):
        best = torch.zeros((), dtype=x.dtype)
        for j in range(x.shape[1]):
            off = not flags[j]
            if off or x[i, j] > best:
                best = x[i, j]
        found.append(best * 2)
    return torch.stack(found)


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_other_flags_take_what_passes_nothing(backend):
    lifted = lift(taken_by_flags, backend=backend, verify="off")
    for n in (6, 3, 1, 9):
        x, flags = torch.rand(n, 7, dtype=torch.float64) + 0.1, [k % 3 != 1 for k in range(7)]
        torch.testing.assert_close(lifted(x, flags), taken_by_flags(x, flags))
