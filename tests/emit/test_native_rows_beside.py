"""Loops over whole rows as kernels beside statements that are no scalar work."""

import numpy as np
import pytest

import looplift


def sieve(n):
    flags = np.ones(n + 1, dtype=bool)
    flags[:2] = False
    for p in range(2, int(n**0.5) + 1):
        if flags[p]:
            flags[p * p :: p] = False
    return np.nonzero(flags)[0]


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_sieve(backend):
    lifted = looplift.lift(sieve, backend=backend, verify="off")
    for n in (400, 30, 4, 3, 401):
        assert np.array_equal(lifted(n), sieve(n))
    assert [loop.decision for loop in lifted.report().loops] == ["native"]


def steps(x, ks):
    for k in ks:
        x[1::k] = x[1::k] * 2 + k
    return np.argsort(x)


@pytest.mark.parametrize("ks", [[1, 2, 3], [2, 0, 1], [2, -1, 3], []])
def test_steps_that_are_not_positive_are_the_loop_s(ks):
    lifted = looplift.lift(steps, verify="off")

    def run(call):
        x = np.arange(9.0)
        try:
            return call(x, ks).tolist(), x.tolist()
        except ValueError as error:
            return str(error), x.tolist()

    assert run(lifted) == run(lifted) == run(steps)
