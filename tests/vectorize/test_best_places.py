"""The best of a row and where it stands: values with ties, NaN and infinities, under masks, with other starts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference

INF, NAN = float("inf"), float("nan")


def first_least(x, taken):
    least, places = [], []
    for i in range(x.shape[0]):
        best, which = x[i, 0], 0
        for k in range(x.shape[1]):
            if taken[i, k] and x[i, k] < best:
                best, which = x[i, k], k
        least.append(best)
        places.append(which)
    return torch.stack(least), places


def last_least(x, taken):
    least, places = [], []
    for i in range(x.shape[0]):
        best, which = x[i, 0], -1
        for k in range(x.shape[1]):
            if taken[i, k] and x[i, k] <= best:
                best, which = x[i, k], 2 * k + 1
        least.append(best)
        places.append(which)
    return torch.stack(least), places


def first_greatest(x, taken):
    places = []
    for i in range(x.shape[0]):
        best, which = x[i, 0], -1
        for k in range(1, x.shape[1]):
            if x[i, k] > best:
                best, which = x[i, k], k
        places.append(which)
    return places


def last_greatest(x, taken):
    greatest = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        best = x[i, 0]
        for k in range(x.shape[1]):
            if taken[i, k] and x[i, k] >= best:
                best = x[i, k]
        greatest[i] = best
    return greatest


ROWS = [
    torch.tensor([[1.0, 0, 0, 2, 2, 0], [INF, INF, INF, INF, INF, INF], [-INF, 1, -INF, 1, INF, INF]]),
    torch.tensor([[NAN, 0, 0, 2, 2, 0], [1, NAN, 1, 0, NAN, 0], [INF, NAN, INF, NAN, INF, NAN]]),
    torch.tensor([[0.0, -0.0, 0.0, -0.0, 0.0, 1.0], [-0.0, 0.0, 0.0, 1, 2, 3], [3, 2, 1, 0, 0, 0]]),
]
MASKS = [torch.ones(3, 6, dtype=torch.bool), torch.tensor([[False, True, False] * 2] * 3), torch.zeros(3, 6) > 0]


@pytest.mark.parametrize("function", [first_least, last_least, first_greatest, last_greatest])
@pytest.mark.parametrize("rows", ROWS)
def test_the_best_of_each_row(function, rows):
    calls = [[rows, mask] for mask in MASKS]
    integers = [[torch.randint(-1, 2, (4, 6), generator=torch.Generator().manual_seed(k)), MASKS[1][:1].expand(4, 6)]
                for k in range(3)]  # fmt: skip
    for given in (calls, integers):
        check(function, *given, gradients=False, decisions={"lanes", "scan"})


def nearest_rows(points, centres):
    rows, found = np.zeros((len(points), centres.shape[1])), np.zeros(len(points))
    for i in range(len(points)):
        best, row = np.inf, np.zeros(centres.shape[1])
        for k in range(len(centres)):
            distance = np.abs(points[i] - centres[k]).sum()
            if distance <= best:
                best, row = distance, centres[k]
        rows[i], found[i] = row, best
    return rows, found


def test_the_best_of_arrays_with_its_row():
    generator = np.random.default_rng(0)
    points = generator.integers(0, 3, (7, 2)).astype(float)
    centres = generator.integers(0, 3, (5, 2)).astype(float)
    check(nearest_rows, [points, centres], [points * np.nan, centres], gradients=False, decisions={"lanes", "scan"})


def greatest_of_rows(x, scale):
    out = []
    for i in range(x.shape[0]):
        best = x[i, 0]
        for k in range(1, x.shape[1]):
            if x[i, k] > best:
                best = x[i, k]
        out.append(best * scale)
    return torch.stack(out)


def test_gradients_reach_the_best_alone():
    x = torch.randint(0, 3, (5, 7), generator=torch.Generator().manual_seed(0)).double()
    check(greatest_of_rows, [x, torch.tensor(2.0, dtype=torch.float64)], decisions={"lanes", "scan"})


def nearest(point, cloud):
    best = None
    for other in cloud:
        distance = ((point - other) ** 2).sum()
        if best is None or distance < best:
            best = distance
    return best


def nearest_of_each(x, y):
    return [nearest(point, y) for point in x]


def mean_of_nearest(x, y):
    found = [nearest(point, y) for point in x]
    back = [nearest(point, x) for point in y]
    return sum(found) / len(x) + sum(back) / len(y)


def from_the_first_on(x, y):
    kept = []
    for point in x:
        best = point.sum()
        for other in y:
            product = (point * other).sum()
            if product > best:
                best = product
        kept.append(best)
    return kept


def of_all_so_far(x, y):
    kept, best = [], None
    for point in x:
        for other in y:
            product = (point * other).sum()
            if best is None or product > best:
                best = product
        kept.append(best)
    return kept, kept


def beside_the_first(x, y):
    firsts, kept = [], []
    for point in x:
        first = best = (point * y[0]).sum()
        for other in y:
            product = (point * other).sum()
            if product > best:
                best = product
        firsts.append(first)
        kept.append(best)
    return firsts, kept


HANDED_OUT = [nearest_of_each, mean_of_nearest, from_the_first_on, of_all_so_far, beside_the_first]


@pytest.mark.parametrize("function", HANDED_OUT, ids=lambda f: f.__name__)
def test_the_best_of_each_row_is_handed_out_as_the_tensor_that_it_is_in_the_loop(function):
    def identities(found):
        items = [one for part in found for one in part] if isinstance(found, tuple) else found
        return [one is other for one in items for other in items] if isinstance(found, list | tuple) else None

    generator = torch.Generator().manual_seed(0)
    for backend in ("auto", "torch"):
        lifted = lift(function, verify="off", backend=backend)
        for count, others in ((4, 5), (2, 1), (1, 3)) * 2:
            given = [torch.randn(size, 3, generator=generator, dtype=torch.float64) for size in (count, others)]
            for gradients in (False, True):
                wanted, got = (outcome(one, given, gradients=gradients) for one in (function, lifted))
                assert difference(got, wanted, magnitude=1.0) is None
                assert identities(got["result"]) == identities(wanted["result"])


def test_lists_of_the_best_are_lanes():
    x, y = torch.randn(4, 3), torch.randn(5, 3)
    for function in (nearest_of_each, mean_of_nearest, from_the_first_on):
        lifted = lift(function, verify="off")
        lifted(x, y)
        assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "scan"}
