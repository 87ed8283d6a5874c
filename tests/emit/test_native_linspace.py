"""Kernels that go through ``np.linspace``: every bit is NumPy's."""

import numpy as np
import pytest

from looplift import lift


def escapes(n, limit):
    image = np.zeros((n, n), dtype=np.uint8)
    for row, y in enumerate(np.linspace(-1.5, 1.5, n)):
        for column, x in enumerate(np.linspace(-1.5, 1.5, n)):
            u, v = x, y
            for k in range(limit):
                if u * u + v * v > 4:
                    break
                u, v = u * u - v * v - 0.8, 2 * u * v + 0.156
            image[row, column] = k
    return image


def complex_escapes(n, limit, c):
    image = np.zeros((n, n), dtype=np.uint8)
    for row, y in enumerate(np.linspace(-1.5, 1.5, n)):
        for column, x in enumerate(np.linspace(-1.5, 1.5, n)):
            z = complex(x, y)
            for k in range(limit):
                if z.real**2 + z.imag**2 > 4:
                    break
                z = z**2 + c
            image[row, column] = k
    return image


def held(first, last, count, weights):
    out = np.zeros((3, count))
    total = 0.0
    for i in range(3):
        total = total * weights[i] + 1.0
        points = np.linspace(first, last, num=count, dtype=np.float64)
        for j in range(count):
            out[i, j] = points[j]
            if total > 100.0:
                out[i, j] = total
    return out


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except (ValueError, OverflowError, UnboundLocalError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_searches_in_a_grid(backend):
    lifted, of_complex = lift(escapes, backend=backend), lift(complex_escapes, backend=backend)
    for n, limit in ((7, 20), (1, 5), (0, 3), (8, 30), (9, 20)):
        assert np.array_equal(lifted(n, limit), escapes(n, limit))
        arguments = n, limit, -0.8 + 0.156j
        assert np.array_equal(of_complex(*arguments), complex_escapes(*arguments))


def test_what_python_raises_for_is_the_loops():
    lifted = lift(escapes, backend="native")
    lifted(5, 9)
    lifted(5, 9)
    for arguments in ((4, 0), (-1, 4), (4, 300), (6, 9)):
        found, expected = outcome(lifted, *arguments), outcome(escapes, *arguments)
        assert np.array_equal(found, expected) if isinstance(expected, np.ndarray) else found == expected


def test_they_are_compiled():
    lifted = lift(escapes)
    lifted(9, 12)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


BOUNDS = [(0.1, 0.7), (-3, 11), (2.0, 2.0), (1e-320, 3e-320), (5.5, -1e300), (np.float64(0.3), 9), (-0.0, 0.0), (7, 3)]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_every_bit_is_that_of_numpy(bounds):
    lifted = lift(held, backend="native")
    for count in (10, 1, 2, 0, 49, 10):
        weights = np.full(3, 0.5)
        found, expected = lifted(*bounds, count, weights), held(*bounds, count, weights)
        assert found.tobytes() == expected.tobytes()
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-1e308, 1e308), (np.nan, 1.0)])
def test_what_numpy_warns_of_is_the_loops(bounds):
    lifted = lift(held, backend="native")
    with np.errstate(all="ignore"):
        for _ in range(3):
            found, expected = lifted(*bounds, 5, np.full(3, 0.5)), held(*bounds, 5, np.full(3, 0.5))
            assert np.array_equal(found, expected, equal_nan=True)
