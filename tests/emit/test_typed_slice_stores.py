"""Stores into slices of lists with steps, in programs."""

import pytest

import looplift


def sieve(n):
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    for p in range(2, int(n**0.5) + 1):
        if flags[p]:
            flags[p * p :: p] = [False] * len(flags[p * p :: p])
    return [k for k in range(n + 1) if flags[k]]


def stored(xs, low, high, step, count):
    for k in range(3):
        xs[low:high:step] = [k + 10 * i for i in range(count)]
    return xs


def crossed(xs):
    for _ in range(3):
        xs[::2] = xs[1::2]
        xs[::-1] = xs
    return xs


def test_sieve():
    lifted = looplift.lift(sieve, verify="off")
    for n in (100, 1, 2, 3, 99):
        assert lifted(n) == sieve(n)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, 20, 0])
@pytest.mark.parametrize(("low", "high"), [(0, 10), (1, 8), (8, 1), (-3, 100), (5, 5)])
def test_as_many_items_as_places(low, high, step):
    for count in {0, 1, 4, len(range(10)[low:high:step]) if step else 2}:

        def run(call, count=count):
            xs = list(range(10))
            try:
                return call(xs, low, high, step, count), xs
            except ValueError as error:
                return str(error), xs

        lifted = looplift.lift(stored, verify="off")
        assert run(lifted) == run(lifted) == run(stored)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8])
def test_of_themselves(n):
    def run(call):
        xs = list(range(n))
        try:
            return call(xs), xs
        except ValueError as error:
            return str(error), xs

    lifted = looplift.lift(crossed, verify="off")
    assert run(lifted) == run(lifted) == run(crossed)
