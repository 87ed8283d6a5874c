"""Functions and methods that return an iterator, which the caller goes through at once."""

from dataclasses import dataclass

import numpy as np
import torch
from strictly import same

from looplift import lift


@dataclass
class Rows:
    ends: list
    keys: list
    weights: list

    def row(self, i):
        low, high = self.ends[i], self.ends[i + 1]
        return zip(self.keys[low:high], self.weights[low:high])

    def heavy(self, i, least):
        return (key for key, weight in self.row(i) if weight > least)


def two_steps(ends, keys, weights):
    rows, found = Rows(ends, keys, weights), {}
    for i in range(len(ends) - 1):
        for k, a in rows.row(i):
            for j, b in rows.row(k):
                found[j] = found.get(j, 0.0) + a * b
    return found


def heavy_keys(ends, keys, weights):
    rows, found = Rows(ends, keys, weights), []
    for i in range(len(ends) - 1):
        for key in rows.heavy(i, 0.5):
            if key > 1:
                break
            found.append((i, key))
    return found


def growing(xs, ys):
    ys.append(len(xs))
    return enumerate(ys, 1)


def seen_while_it_grows(xs, ys):
    found = []
    for x in xs:
        for k, y in growing(xs, ys):
            if k < 6:
                ys.append(y + x)
            found.append(k * y // x)
    return found


def backwards(xs):
    return reversed(xs)


def held(xs):
    """An iterator that is gone through twice, which is empty then."""
    total = 0
    for k in range(len(xs)):
        once = backwards(xs)
        for x in once:
            total += x * k
        for x in once:
            total += 1000
    return total


def counted(xs, zip):
    found = 0
    for x in xs:
        for a, b in own_zip(x, zip):
            found += a * b
    return found


def own_zip(x, zip):
    return zip(x, 2)


def twice(x, times):
    return [(x, times), (times, x)]


def pairs(x, y):
    return zip(x[1:], y)


def moved(x, k):
    return (v + k for v in x)


def totals(x, y):
    out = torch.zeros(len(x), 3)
    for i in range(len(x)):
        total = torch.zeros(3)
        for a, b in pairs(x[i], y[i]):
            total = total + torch.sin(a) * b
        for v in moved(x[i], 2):
            total = total + v
        out[i] = total
    return out


ENDS, KEYS, WEIGHTS = [0, 2, 3, 3, 5], [1, 2, 0, 3, 1], [0.5, 1.5, -2.0, 0.75, 1.25]


def test_methods_that_return_iterators():
    calls = [(ENDS, KEYS, WEIGHTS), ([0], [], []), ([0, 1], [0], [2.0]), (ENDS, [1, 2, 9, 3, 1], WEIGHTS)]
    same(two_steps, *calls, decisions={"native"})
    same(two_steps, (ENDS, [-1, -2, 0, -4, 1], WEIGHTS))
    same(heavy_keys, *calls, decisions={"native"})


def test_lists_that_grow_meanwhile():
    same(seen_while_it_grows, ([1, 2, 3], [5]), ([], [1]), ([1, 0], [2]), ([2], []))


def test_iterators_that_are_held_and_names_of_others():
    same(held, ([3, 1, 2],), ([],))
    same(counted, ([1, 2, 3], twice))


def test_tensors_in_lanes():
    g = torch.Generator().manual_seed(2)
    for n, m in ((4, 5), (1, 1), (2, 0), (0, 3)):
        x, y = (torch.randn(n, m, 3, generator=g, dtype=torch.float64, requires_grad=True) for _ in range(2))
        for backend in ("auto", "torch", "native"):
            lifted = lift(totals, verify="off", backend=backend)
            wanted, found = totals(x, y), lifted(x, y)
            assert found.dtype == wanted.dtype and torch.allclose(found, wanted, atol=1e-6)
            if wanted.requires_grad:
                slopes = [torch.autograd.grad(one.sum(), (x, y), allow_unused=True) for one in (wanted, found)]
                for a, b in zip(*slopes, strict=True):
                    assert (a is None and b is None) or torch.allclose(a, b)
    lifted = lift(totals, verify="off")
    lifted(torch.randn(4, 5, 3), torch.randn(4, 5, 3))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, str(lifted.report())


def test_rows_of_arrays():
    def sums(x, y):
        found = []
        for k in range(len(x)):
            total = 0.0
            for a, b in pairs(x[k], y[k]):
                total += a * b
            found.append(total)
        return np.array(found)

    rng = np.random.default_rng(0)
    same(
        sums,
        (rng.integers(9, size=(3, 4)) * 1.0, rng.integers(9, size=(3, 4)) * 1.0),
        (rng.integers(9, size=(2, 1)), rng.integers(9, size=(2, 1))),
    )
