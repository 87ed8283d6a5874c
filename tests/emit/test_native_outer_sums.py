"""Kernels with sums of each and each, new axes of NumPy's arrays, and elements that change the rest of their array."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def shortest_by_outer(path):
    for k in range(len(path)):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return path


def shortest_by_new_axes(path):
    for k in range(len(path)):
        path[:] = np.minimum(path, path[:, k][:, None] + path[k, None, :])
    return path


def differences(points, weights):
    forces = np.zeros_like(points)
    total = points[0] * 0
    for k in range(1, len(points)):
        total = total * weights[k] + points[k]
        table = np.subtract.outer(total, points[k - 1]) * weights[None, None, k]
        forces[k] = table.sum(0) + np.multiply.outer(total, total)[0]
    return forces


def factors(a):
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= torch.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def scaled_by_its_own(a):
    for k in range(len(a) - 1):
        a[k] *= a[k, k]
        a[k + 1] += a[k]
    return a


PROGRAMS = {
    "shortest_by_outer": (shortest_by_outer, lambda: (np.random.rand(9, 9),)),
    "shortest_by_new_axes": (shortest_by_new_axes, lambda: (np.random.rand(9, 9),)),
    "differences": (differences, lambda: (np.random.rand(9, 4), np.random.rand(9))),
    "factors": (factors, lambda: (torch.rand(9, 9) + 9 * torch.eye(9),)),
    "factors of doubles": (factors, lambda: ((torch.rand(9, 9).double() + 9 * torch.eye(9)).T,)),
    "factors of nothing": (factors, lambda: (torch.rand(0, 0),)),
}


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_the_loop(name, backend):
    function, arguments = PROGRAMS[name]
    lifted = lift(function, backend=backend)
    for _ in range(3):
        given = arguments()
        theirs = copy.deepcopy(given)
        found, expected = lifted(*given), function(*theirs)
        assert difference(expected, found) is None
        assert difference(theirs, given) is None


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "nothing" not in name])
def test_they_are_compiled(name):
    function, arguments = PROGRAMS[name]
    lifted = lift(function, backend="native")
    lifted(*arguments())
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_nothing_finite_and_what_overflows_is_the_loops():
    lifted = lift(shortest_by_outer, backend="native")
    for _ in range(3):
        path = np.random.rand(6, 6)
        path[2, 3], path[1, 1], path[4, 0] = np.inf, np.nan, -np.inf
        with np.errstate(all="ignore"):
            found, expected = lifted(path.copy()), shortest_by_outer(path.copy())
        assert np.array_equal(found, expected, equal_nan=True)


def test_an_element_inside_of_what_it_changes():
    lifted = lift(scaled_by_its_own, backend="native")
    for transposed in (False, True, False, True):
        given = torch.rand(5, 5, dtype=torch.float64)
        given = given.T if transposed else given
        theirs = given.clone(memory_format=torch.preserve_format)
        outcomes = []
        for function, a in ((scaled_by_its_own, theirs), (lifted, given)):
            try:
                outcomes.append(function(a))
            except RuntimeError as error:
                outcomes.append(str(error))
        assert type(outcomes[0]) is type(outcomes[1])
        assert difference(outcomes[0], outcomes[1]) is None
        assert torch.equal(theirs, given)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_gradients_of_factors(backend):
    lifted = lift(copied_factors, backend=backend)
    for _ in range(2):
        a = (torch.rand(6, 6, dtype=torch.float64) + 6 * torch.eye(6)).requires_grad_()
        (expected,) = torch.autograd.grad(copied_factors(a).square().sum(), a)
        (found,) = torch.autograd.grad(lifted(a).square().sum(), a)
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def copied_factors(a):
    a = a.clone()
    for k in range(len(a) - 1):
        a[k + 1 :, k] = a[k + 1 :, k].clone() / a[k, k].clone()
        a[k + 1 :, k + 1 :] -= torch.outer(a[k + 1 :, k].clone(), a[k, k + 1 :].clone())
    return a
