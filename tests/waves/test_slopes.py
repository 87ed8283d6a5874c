"""A gradient of one row alone is zero for the other rows of a batch, whatever makes NaN of a zero."""

from __future__ import annotations

import math

import pytest
import torch
from tests.waves.harness import batched

from looplift import lift

INFINITE, UNDEFINED = math.inf, math.nan


def root_of(tree, x):
    return torch.sqrt(x[tree[0]]) if len(tree) == 1 else root_of(tree[1:], x)


def roots(trees, x, w):
    return [root_of(tree, x) for tree in trees]


def dropped_roots(trees, x, w):
    found = {}
    for tree in trees:
        found["last"] = root_of(tree, x)
    return [found["last"]]


def product_of(tree, x, w):
    return x[tree[0]] * w if len(tree) == 1 else product_of(tree[1:], x, w)


def products(trees, x, w):
    return [torch.tanh(product_of(tree, x, w)) for tree in trees]


def cubes(trees, x, w):
    return [torch.clamp(product_of(tree, x, w) * x[tree[0]] * x[tree[0]], max=3.0) for tree in trees]


def distances(trees, x, w):
    return [1 / torch.dist(product_of(tree, x, w), w) for tree in trees]


def angles(trees, x, w):
    return [torch.asin(torch.tanh(product_of(tree, x, w))) for tree in trees]


def sums(trees, x, w):
    return [root_of(tree, x * x + 1) + x[tree[0]] for tree in trees]


FUNCTIONS = [roots, dropped_roots, products, cubes, distances, angles, sums]
TREES = [(0,), (1, 2), (2, 0, 1), (2,)]
TABLES = (
    [[1.0, 2.0], [0.5, 1.5], [0.25, 3.0]],
    [[1.0, 0.0], [0.0, 0.0], [0.25, 3.0]],
    [[1.0, INFINITE], [0.5, 1.5], [UNDEFINED, 3.0]],
    [[1.0, 1e150], [0.5, 1.5], [1e200, 3.0]],
    [[40.0, 1.0], [-40.0, 1.5], [0.25, 3.0]],
)
FACTORS = ([2.0, 0.5], [INFINITE, 1.0], [1e200, 0.0])


def tensors(table, factors):
    return tuple(torch.tensor(one, dtype=torch.float64, requires_grad=True) for one in (table, factors))


def gradients(function, table, factors):
    """Of each result alone, by all inputs; None where there is none."""
    x, w = tensors(table, factors)
    results = function(TREES, x, w)
    return [torch.autograd.grad(one.sum(), (x, w), allow_unused=True, retain_graph=True) for one in results]


def assert_same(found, wanted):
    for row, other in zip(found, wanted, strict=True):
        for one, two in zip(row, other, strict=True):
            assert (one is None) == (two is None)
            assert one is None or torch.allclose(one, two, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_gradient_of_one_result_is_none_of_the_others(function, table, factors):
    wanted = gradients(function, table, factors)
    lifted = batched(function, TREES, *tensors(TABLES[0], FACTORS[0]))
    try:
        found = gradients(lifted, table, factors)
    except NotImplementedError:  # the loop runs
        assert (table, factors) != (TABLES[0], FACTORS[0]) or function is angles
    else:
        assert_same(found, wanted)
    assert_same(gradients(lift(function, verify="first"), table, factors), wanted)


def test_without_gradients_nothing_is_asked():
    lifted = batched(roots, TREES, *tensors(TABLES[0], FACTORS[0]))
    with torch.no_grad():
        for one, two in zip(
            lifted(TREES, *tensors(TABLES[2], FACTORS[1])), roots(TREES, *tensors(TABLES[2], FACTORS[1]))
        ):
            torch.testing.assert_close(one, two, equal_nan=True)


def test_only_what_may_be_steep_is_noted():
    assert ".noted(" in batched(roots, TREES, *tensors(TABLES[0], FACTORS[0])).source.partition("def region")[2]
    assert ".noted(" not in batched(products, TREES, *tensors(TABLES[0], FACTORS[0])).source.partition("def region")[2]
