"""NumPy that is told later to report results that are too small for a float, and loops that kernels run."""

import numpy as np
import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def squares(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = a[i] * a[i]
    return out


def product(a):
    total = np.float64(1.0)
    for i in range(len(a)):
        total = total * a[i]
    return total


def of_lists(xs):
    out = []
    for x in xs:
        out.append(x * x)
    return out


class Owner:
    def __init__(self, a):
        self.a = a


def of_owner(owner):
    total = 1.0
    for i in range(3):
        total = total * owner.a[i] * owner.a[i]
    return total


def into_tensors(a):
    out = torch.zeros(len(a), dtype=torch.float64)
    for i in range(len(a)):
        out[i] = float(a[i] * a[i])
    return out


def beside_tensors(a):
    out, x = np.zeros(len(a)), torch.ones(len(a))
    for i in range(len(a)):
        out[i] = a[i] * a[i] + float(x[i])
    return out


def outcome(function, make, scale):
    try:
        return repr(function(make(np.array([1.0, 0.5, 2.0]) * scale)))
    except FloatingPointError as error:
        return str(error)


PROGRAMS = [(squares, np.copy), (product, np.copy), (of_lists, list), (of_owner, Owner)]
PROGRAMS += [(into_tensors, np.copy), (beside_tensors, np.copy)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "make"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("told", [{"under": "raise"}, {"all": "raise"}])
def test_numbers_that_are_too_small(backend, function, make, told):
    lifted = lift(function, backend=backend, verify="off")
    for scale in (1.0, 1.0, 1e-200):
        assert outcome(lifted, make, scale) == outcome(function, make, scale)
    for _ in range(2):
        with np.errstate(**told):
            for scale in (1.0, 1e-200):
                assert outcome(lifted, make, scale) == outcome(function, make, scale)
        with np.errstate(all="ignore"):
            assert outcome(lifted, make, 1e-200) == outcome(function, make, 1e-200)
    before = np.seterr(**told)
    try:
        assert outcome(lifted, make, 1e-200) == outcome(function, make, 1e-200)
    finally:
        np.seterr(**before)
    assert outcome(lifted, make, 1e-200) == outcome(function, make, 1e-200)
