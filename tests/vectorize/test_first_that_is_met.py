"""What is None until a condition on what it changes holds: in the first iteration, or the loop runs."""

import pytest
import torch

from looplift import lift


def nearest(queries, points):
    found = []
    for i in range(len(queries)):
        best, least = None, float("inf")
        for j in range(len(points)):
            distance = ((queries[i] - points[j]) ** 2).sum()
            if distance < least:
                least = distance
                best = points[j]
        found.append(best)
    return torch.stack(found)


def nearest_by_numbers(queries, points):
    out = torch.zeros_like(queries)
    for i in range(len(queries)):
        best, least = None, 1e9
        for j in range(len(points)):
            distance = (queries[i] - points[j]).abs().max().item()
            if distance < least:
                best, least = points[j], distance
        out[i] = best
    return out


def farthest_of_one(query, points):
    best, most, where = None, -1.0, None
    for j in range(len(points)):
        distance = (query - points[j]).norm()
        if distance > most:
            best, most, where = points[j] * 2, distance, j
    return best, most, where


def of_a_helper(queries, points):
    def closest(query):
        best, least = None, float("inf")
        for point in points:
            distance = (query - point).abs().sum()
            if distance < least:
                best, least = point, distance
        return best

    return torch.stack([closest(query) - query for query in queries])


def with_some_left_out(queries, points):
    found = []
    for i in range(len(queries)):
        best, least = None, float("inf")
        for j in range(len(points)):
            if i == j:
                continue
            distance = ((queries[i] - points[j]) ** 2).sum()
            if distance < least:
                best, least = points[j], distance
        found.append(best)
    return torch.stack(found)


def rows(seed, count=5, points=7):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(count, 3, generator=g), torch.randn(points, 3, generator=g)


FUNCTIONS = [nearest, nearest_by_numbers, of_a_helper]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("gradients", [False, True])
def test_rows_that_are_nearest(function, gradients):
    lifted = lift(function, backend="torch", verify="off")
    for seed in range(3):
        queries, points = (one.requires_grad_(gradients) for one in rows(seed))
        got, want = lifted(queries, points), function(queries, points)
        assert torch.equal(got, want) and got.requires_grad == want.requires_grad
        if gradients:
            weights = torch.rand_like(want)
            slopes = [torch.autograd.grad((one * weights).sum(), points) for one in (got, want)]
            torch.testing.assert_close(*slopes)
    assert "lanes" in [loop.decision for loop in lifted.report().loops], lifted.report()


@pytest.mark.parametrize("function", [*FUNCTIONS, with_some_left_out])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_a_first_one_that_is_not_met(function, value):
    lifted = lift(function, backend="torch", verify="off")
    for place in (0, 3):
        queries, points = rows(1)
        lifted(queries, points)
        points[place] = value
        assert torch.equal(lifted(queries, points), function(queries, points))
    for run in (function, lifted):
        with pytest.raises(TypeError):
            run(*rows(2, points=0))


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), -float("inf")])
def test_one_search(value):
    lifted = lift(farthest_of_one, backend="torch", verify="off")
    for seed in range(3):
        queries, points = rows(seed)
        points[0] = points[0] if value is None else value
        got, want = lifted(queries[0], points), farthest_of_one(queries[0], points)
        assert got[2] == want[2] and torch.equal(got[0], want[0]) and torch.equal(got[1], want[1])
