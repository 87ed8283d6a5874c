"""Python's ``max`` and ``min`` of slices of another length in each iteration: comparisons of one item after another."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, check_backends

PLACES = torch.tensor([[0, 4], [3, 8], [1, 3], [5, 9]])
NAN = float("nan")
EVERYWHERE = {"auto", "torch", "native"}


def spans(x, a):
    out = []
    for i in range(len(a)):
        v = x[a[i, 0] : a[i, 1]]
        out.append(max(v) - min(v) * 2)
    return out


def guarded(x, a):
    out = torch.zeros(len(a), dtype=x.dtype)
    for i in range(len(a)):
        v = x[a[i, 0] : a[i, 1]]
        if v.sum() > 0:
            out[i] = max(v * 2)
    return out


def signs(x, a):
    out = []
    for i in range(len(a)):
        v = x[a[i, 0] : a[i, 1]]
        out.append(np.copysign(2.0, max(v)) + np.copysign(1.0, min(v)))
    return out


def values(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_distinct_items():
    check(spans, [values(9), PLACES])


def test_integers():
    check(spans, [torch.tensor([3, 1, 3, 2, -5, 4, 4, 0, 4]), PLACES])


@pytest.mark.parametrize("items", [
    [1, NAN, 3, 2, 5, -NAN, 0, -1, 4], [NAN, 1, 2, NAN, 3, 3, NAN, NAN, 2],
    [-0.0, 0.0, -0.0, 0.0, -0.0, 0.0, 0.0, -0.0, 0.0],
])  # fmt: skip
def test_items_that_compare_in_another_way(items):
    given = torch.tensor(items, dtype=torch.float64)
    check_backends(spans, [given, PLACES], gradients=True, kept=EVERYWHERE)
    check_backends(guarded, [given, PLACES], kept=EVERYWHERE)
    for loop in (spans, signs):
        check_backends(loop, [given.numpy(), PLACES.numpy()], kept=EVERYWHERE)


def test_the_gradient_of_equal_items_goes_to_the_first():
    given = torch.tensor([1.0, 2, 2, 2, 0, 0, 3, 3, 3], dtype=torch.float64)
    check_backends(spans, [given, PLACES], gradients=True, kept=EVERYWHERE)


@pytest.mark.parametrize("width", [1, 2])
def test_rows(width):
    check_backends(spans, [values(9, width), PLACES], gradients=True, kept=EVERYWHERE)
    check_backends(spans, [values(9, width).numpy(), PLACES.numpy()], kept=EVERYWHERE)
