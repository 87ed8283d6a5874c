"""Functions over containers, lifted and as written: the same values, types, orders, changes and exceptions."""

import copy

import numpy as np
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def assert_equal(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, list | tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            assert_equal(one, other)
    elif isinstance(wanted, dict):
        assert_equal([*got.items()], [*wanted.items()])
    elif isinstance(wanted, float):
        assert repr(got) == repr(wanted)
    elif isinstance(wanted, torch.Tensor):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert got.dtype == wanted.dtype and got.strides == wanted.strides
        np.testing.assert_array_equal(got, wanted)
    elif hasattr(wanted, "__dict__"):
        assert_equal(vars(got), vars(wanted))
    else:
        assert got == wanted


def outcome(function, given):
    try:
        return function(*given)
    except Exception as error:
        return type(error), str(error)


def runs_alike(function, *given, native=True):
    """``native``: whether one loop of it is compiled; None where nobody asks."""
    for backend in BACKENDS:
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            mine, theirs = copy.deepcopy(given), copy.deepcopy(given)
            assert_equal(outcome(lifted, mine), outcome(function, theirs))
            assert_equal(mine, theirs)
        found = any(loop.decision == "native" for loop in lifted.report().loops)
        assert native is None or found == (native and backend != "torch"), lifted.report()
